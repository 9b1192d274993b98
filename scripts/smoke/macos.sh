#!/usr/bin/env bash
# Checks a Mac: what linux.sh does holds here, too, and runs with the Bash 3.2 of macOS. Without a guard, which only
# Linux has, an agent is stopped with its process group.
set -eu
exec "$(dirname "$0")/linux.sh"
