#!/bin/sh
# Builds, and prints the first error alone.
set -u
"${@:-make}" 2>&1 | awk '/^error/ { found = 1 } found { print } found && /^$/ { exit }'
