FROM debian:bookworm
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends python3 python3-pip python3-venv \
    && rm -rf /var/lib/apt/lists/* /usr/lib/python3.11/EXTERNALLY-MANAGED \
    && ln -s /usr/bin/python3 /usr/local/bin/python
