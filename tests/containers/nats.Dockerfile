FROM python:3.11-slim
ARG PINS
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends wget \
    && rm -rf /var/lib/apt/lists/* \
    && pip install -q --no-cache-dir ${PINS}
ENTRYPOINT ["nats-server"]
