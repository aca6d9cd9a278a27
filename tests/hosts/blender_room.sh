#!/usr/bin/env bash
# Runs a command beside another Debian's Blender, with its window, in a folder for chroot:
#
#     tests/hosts/blender_room.sh trixie|sid FOLDER|--try [COMMAND…]
#
# The folder takes about 1.7 GB and a minute or two, and is kept. The command finds it in
# CALLBOARD_BLENDER_ROOM, as the window's tests do. Ends with 3 where this machine can't do it.
set -euo pipefail
suite=$1 room=$2
shift 2
packages="blender libegl1 libgl1 libgl1-mesa-dri python3-numpy"
command='chroot "$CALLBOARD_ROOM" /usr/bin/env PATH=/usr/bin:/bin blender --version | sed -n 1p
    CALLBOARD_BLENDER_ROOM=$CALLBOARD_ROOM exec "$@"'
exec bash "$(dirname "$0")/../../.ci/debian_room.sh" "$suite" "$room" "$packages" \
    bash -c "$command" - "${@:-true}"
