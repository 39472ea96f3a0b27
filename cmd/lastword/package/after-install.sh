#!/bin/sh
# The same for Debian and RPM, for a first installation and an upgrade.
set -e
getent group lastword >/dev/null || groupadd --system lastword
getent passwd lastword >/dev/null ||
	useradd --system --gid lastword --home-dir /var/lib/lastword --no-create-home --shell /usr/sbin/nologin lastword
install -d -o lastword -g lastword -m 0700 /var/lib/lastword /var/lib/lastword-files /var/lib/lastword-trust /var/cache/lastword
if [ ! -e /etc/lastword/tokens ]; then
	install -o lastword -g lastword -m 0600 /dev/null /etc/lastword/tokens
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart lastword.service || true # wrong settings must not leave the upgrade half done
fi
