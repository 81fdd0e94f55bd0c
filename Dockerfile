# One image for the API, the worker and the migrations; the command says which.
ARG BASE=python:3.11-slim
FROM ${BASE}

ENV PYTHONUNBUFFERED=1 PYTHONPATH=/app/src

WORKDIR /app

# Finds the type of a file from its first bytes.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libmagic1 \
    && rm -rf /var/lib/apt/lists/*

# The secret `pip` is the configuration of a private index, where there is one.
COPY requirements.lock ./
RUN --mount=type=secret,id=pip,target=/etc/xdg/pip/pip.conf \
    pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock

COPY .env.example ./
COPY src ./src
# The same three lines that an installer writes; so the image needs no build tool. Volumes keep the
# number of the user, so it is fixed. Files are compiled here, because the user cannot write them.
RUN printf '%s\n' '#!/usr/local/bin/python' 'from thenga.command import main' 'raise SystemExit(main())' \
      > /usr/local/bin/thenga \
    && chmod 755 /usr/local/bin/thenga \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin thenga \
    && install -d -o thenga -g thenga -m 700 \
      /etc/thenga/accounts /var/lib/thenga/files /var/lib/thenga/nats \
    && thenga prebuild \
    && python -m compileall -q src

USER thenga

EXPOSE 8000
CMD ["thenga", "api", "--host", "0.0.0.0", "--port", "8000"]
