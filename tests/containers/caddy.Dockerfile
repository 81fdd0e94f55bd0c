FROM python:3.11-slim
ARG PINS
RUN pip install -q --no-cache-dir ${PINS}
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
