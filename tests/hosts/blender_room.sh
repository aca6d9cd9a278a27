#!/usr/bin/env bash
# Runs a command beside another Debian's Blender, with its window, in a folder for chroot:
#
#     tests/hosts/blender_room.sh trixie|sid FOLDER|--try [COMMAND…]
#
# The folder is made where it isn't there yet, about 1.7 GB in a minute or two, and is kept. The
# command finds it in CALLBOARD_BLENDER_ROOM, as the window's tests do. Nothing stays mounted.
# Ends with 3 where this machine can't do it, and says why; with --try that is all it does.
set -euo pipefail
suite=$1 room=$2
shift 2

cannot() {
    echo "$1"
    exit 3
}

[ "$(id -u)" = 0 ] || cannot "it needs root"
[ -e /etc/debian_version ] || cannot "it needs Debian"
for program in debootstrap unshare chroot; do
    command -v "$program" >/dev/null || cannot "$program is not installed"
done
# In a plain chroot / is no mount, which nobody can make private; there we unmount by ourselves.
propagation=private
if ! unshare --mount true 2>/dev/null; then
    propagation=unchanged
    unshare --mount --propagation "$propagation" true 2>/dev/null ||
        cannot "it needs the right to mount"
fi
[ "$room" != --try ] || exit 0
# What is mounted in a name space of its own is gone with the last process in it.
mkdir -p "$room"
room=$(realpath "$room")
if [ "${CALLBOARD_INSIDE:-}" != "$PPID $room" ]; then
    CALLBOARD_INSIDE="$$ $room" unshare --mount --propagation "$propagation" -- \
        "$BASH" "$0" "$suite" "$room" "$@"
    exit
fi
unset CALLBOARD_INSIDE
export CALLBOARD_BLENDER_ROOM=$room

# Where apt fetches from on this machine, and how.
mirror() {
    local list
    for list in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        [ ! -e "$list" ] || grep -E '^(URIs:|deb )' "$list" || true
    done | { grep -oE 'https?://[^ ]+' || true; } | sed -n 1p
}

settings() {
    apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries|ForceIPv)' || true
}

make() {
    local from
    from=$(mirror)
    [ -n "$from" ] || cannot "apt's sources name no mirror of Debian's"
    debootstrap --variant=minbase "$suite" "$room" "$from"
    enter
    settings >"$room/etc/apt/apt.conf.d/90machine"
    cp /etc/resolv.conf "$room/etc/resolv.conf"
    if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
        mkdir -p "$room/etc/ssl/certs"
        cp /etc/ssl/certs/ca-certificates.crt "$room/etc/ssl/certs/"
    fi
    export DEBIAN_FRONTEND=noninteractive
    chroot "$room" apt-get update -qq
    chroot "$room" apt-get install -y -qq --no-install-recommends \
        blender libegl1 libgl1 libgl1-mesa-dri python3-numpy
    chroot "$room" apt-get clean
}

enter() {
    local folder
    for folder in /proc /dev; do
        mount --rbind "$folder" "$room$folder"
        # Or unmounting it here would unmount what is below it outside.
        mount --make-rslave "$room$folder"
    done
}

leave() {
    [ "$propagation" = private ] || umount --lazy --recursive "$room/dev" "$room/proc"
}

if [ -e "$room/made" ]; then
    enter
else
    [ -e "$room/making" ] || [ -z "$(ls -A "$room")" ] || cannot "$room holds something else"
    # Half a room is made anew: nobody knows what it lacks. Nothing else is ever removed.
    rm -rf --one-file-system "$room"
    mkdir "$room"
    touch "$room/making"
    trap 'tail -n 20 "$room.log"; leave' EXIT
    make >"$room.log" 2>&1
    mv "$room/making" "$room/made"
fi
trap leave EXIT
chroot "$room" /usr/bin/env PATH=/usr/bin:/bin blender --version | sed -n 1p
if [ $# != 0 ]; then
    [ "$propagation" = unchanged ] || exec "$@"
    "$@"
fi
