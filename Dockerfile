# One image for the API, the worker and the migrations; the command says which.
FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONPATH=/app/src

WORKDIR /app

# Tells the type of a file from its first bytes.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libmagic1 \
    && rm -rf /var/lib/apt/lists/*

COPY requirements.lock ./
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock

COPY src ./src
# The same three lines that an installer writes; so the image needs no build tool.
RUN printf '%s\n' '#!/usr/local/bin/python' 'from thenga.command import main' 'raise SystemExit(main())' \
      > /usr/local/bin/thenga \
    && chmod 755 /usr/local/bin/thenga \
    && useradd --system --no-create-home --shell /usr/sbin/nologin thenga \
    && install -d -o thenga -m 700 /etc/thenga/accounts /var/lib/thenga/files \
    && thenga prebuild

USER thenga

EXPOSE 8000
CMD ["thenga", "api", "--host", "0.0.0.0", "--port", "8000"]
