#!/usr/bin/env bash
# NCO 5.1.4, ncpdq -P all_new: packing an array whose _FillValue is 1e20, the usual one of climate models.
# Most would expect packed files to keep what is missing, with a _FillValue of the packed type.
# Seen: the hole is stored as the number 0, which unpacks to add_offset, the middle of the range, and the short array bears a _FillValue of type float, 1e20,
# which no short can equal: to every reader the hole is an ordinary value (50000.5 here). A warning stands on standard error, once a file.
# What it means: set _FillValue to -32767 by ncatted before packing, and look for a _FillValue of another type than its array in files of others.
. "$(dirname "$0")/debian.sh"
packages nco=5.1.4-1+deb12u1 netcdf-bin=1:4.9.0-3+b1
cat >holes.cdl <<'CDL'
netcdf holes {
dimensions: x = 4;
variables: float a(x); a:_FillValue = 1.e20f;
data: a = 1, 2, _, 100000;
}
CDL
unpacked ncgen -o holes.nc holes.cdl
unpacked ncpdq -O -P all_new holes.nc packed.nc 2>/dev/null
seen "short a(x) ; a:_FillValue = 1.e+20f ; a:add_offset = 50000.5f ; a = 32766, 32765, 0, -32766 ;" \
  "$(unpacked ncdump packed.nc | grep -E 'short|_FillValue|add_offset|a = ' | tr -s ' \t\n' ' ' | sed 's/^ //; s/ $//')"
