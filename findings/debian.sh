# Sourced by the findings: pinned Debian 12 packages in a temporary folder, run by that folder's own loader and Python.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
cd "$work"

# packages NAME=VERSION...: downloads them and what they depend on as for an empty system, and unpacks everything into $root.
packages() {
  mkdir -p "$root" "$work/debs/partial"
  : >"$work/status"
  apt-get -qq -y -o Dir::State::status="$work/status" -o Dir::Cache::archives="$work/debs" -o Debug::NoLocking=1 \
    -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false --download-only install "$@" >/dev/null
  local archive
  for archive in "$work"/debs/*.deb; do dpkg-deb -x "$archive" "$root"; done
}

# unpacked PROGRAM [ARGUMENT...]: runs a program of $root with the libraries of $root.
unpacked() {
  local program=$1 libraries=$root/usr/lib/x86_64-linux-gnu
  shift
  libraries=$libraries:$root/lib/x86_64-linux-gnu:$libraries/blas:$libraries/lapack:$libraries/hdf5/serial:$root/usr/lib/gmsh
  PYTHONHOME=$root/usr PYTHONPATH=$root/usr/lib/python3/dist-packages PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=$work HOME=$work \
    "$root/lib64/ld-linux-x86-64.so.2" --library-path "$libraries" "$root/usr/bin/$program" "$@"
}
python() { unpacked python3.11 "$@"; }

# seen EXPECTED-TO-BE-SEEN ACTUAL: ends with 1 where the behaviour has changed.
seen() {
  printf '%s\n' "$2"
  if [ "$1" != "$2" ]; then
    printf 'CHANGED: this was seen when the finding was written:\n%s\n' "$1"
    exit 1
  fi
  echo "as written"
}
