FROM debian:bookworm
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends redis-server \
    && rm -rf /var/lib/apt/lists/*
