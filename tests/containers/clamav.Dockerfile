FROM debian:bookworm
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends clamav-daemon netcat-openbsd \
    && rm -rf /var/lib/apt/lists/*
COPY --chmod=755 clamav-init clamdcheck.sh /usr/local/bin/
COPY --chown=clamav eicar.ndb /var/lib/clamav/
ENTRYPOINT ["clamav-init"]
