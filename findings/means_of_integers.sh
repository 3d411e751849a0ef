#!/usr/bin/env bash
# NCO 5.1.4 and CDO 2.1.1 (Debian 5.1.4-1+deb12u1, 2.1.1-1+deb12u1): means and products of variables that hold whole numbers, such as flags, counts
# or masks of cloud.
# Most would expect the mean of 0, 1, 0, 0 to be 0.25, and half of 1 to be 0.5.
# Seen: the result has the type of the input. `ncra` and `cdo timmean` give 0 for 0, 1, 0, 0 and 1 for 0, 1, 1, 1: rounded. avg() of ncap2 gives
# 0 for both: cut off. `cdo mulc,0.5` of 1 is 1. ncap2's k*0.5 is 0.5, since a number with a point makes the product floating-point.
# What it means: convert first (`cdo -b F64`, `ncap2 -s 'k=double(k)'`), or a frequency of occurrence becomes 0 or 1.
. "$(dirname "$0")/debian.sh"
packages nco=5.1.4-1+deb12u1 cdo=2.1.1-1+deb12u1 netcdf-bin=1:4.9.0-3+b1 python3-netcdf4=1.6.2-1+b1
cat >make.py <<'PYTHON'
import netCDF4

for name, values in (("rare", (0, 1, 0, 0)), ("often", (0, 1, 1, 1))):
    with netCDF4.Dataset(name + ".nc", "w") as file:
        file.createDimension("time", None)
        time, cloud = file.createVariable("time", "f8", ("time",)), file.createVariable("cloud", "i4", ("time",))
        time.units, time.calendar = "days since 2000-01-01", "standard"
        time[:], cloud[:] = range(4), values
PYTHON
python make.py
value() { unpacked ncdump -v "$2" "$1" | sed -n "s/^ $2 = \(.*\) ;/\1/p"; }
means() {
  local name
  for name in rare often; do
    unpacked ncra -O $name.nc a.nc
    unpacked cdo -s -O timmean $name.nc b.nc
    unpacked cdo -s -O -b F64 timmean $name.nc c.nc
    unpacked ncap2 -O -s 'average=cloud.avg(); half=cloud*0.5' $name.nc d.nc
    unpacked cdo -s -O mulc,0.5 $name.nc e.nc
    echo "$name: ncra $(value a.nc cloud), cdo timmean $(value b.nc cloud), with -b F64 $(value c.nc cloud), avg() $(value d.nc average)"
    echo "$name: cdo mulc,0.5 $(value e.nc cloud); ncap2 cloud*0.5 $(value d.nc half)"
  done
}
seen "rare: ncra 0, cdo timmean 0, with -b F64 0.25, avg() 0
rare: cdo mulc,0.5 0, 1, 0, 0; ncap2 cloud*0.5 0, 0.5, 0, 0
often: ncra 1, cdo timmean 1, with -b F64 0.75, avg() 0
often: cdo mulc,0.5 0, 1, 1, 1; ncap2 cloud*0.5 0, 0.5, 0.5, 0.5" "$(means)"
