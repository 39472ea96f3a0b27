#!/bin/sh
# Debian says remove, RPM the number of versions that stay.
set -e
if [ "$1" = remove ] || [ "$1" = 0 ]; then
	if [ -d /run/systemd/system ]; then
		systemctl disable --now lastword.service
	fi
fi
