#!/bin/sh
# RPM never purges: runs, tokens and user stay.
set -e
if [ "$1" = purge ]; then
	rm -rf /var/lib/lastword /var/lib/lastword-files /var/lib/lastword-trust /var/cache/lastword /etc/lastword
	! getent passwd lastword >/dev/null || userdel lastword
	! getent group lastword >/dev/null || groupdel lastword
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
