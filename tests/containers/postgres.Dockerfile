FROM debian:bookworm
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends postgresql-15 \
    && rm -rf /var/lib/apt/lists/*
COPY --chmod=755 postgres-entrypoint /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data \
    PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin
ENTRYPOINT ["postgres-entrypoint"]
CMD ["postgres"]
