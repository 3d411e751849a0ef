#!/usr/bin/env bash
# A time axis in "months since 1980-01-31": four tools of climate science, four answers.
# CF conventions take units from UDUNITS, whose month is a twelfth of a tropical year, 30.4368 days, and advise against it. Most would expect
# tools to follow that, or all to count calendar months.
# Seen for 0, 1, 2 and 12 months: CDO 2.1.1 adds calendar months, and 31 February becomes 2 March, so that dates are not one month apart.
# ncdump -t (netCDF 4.9.0) drops the day of the reference date: every time is the first of a month. UDUNITS 2.2.28 takes 30.4368 days.
# xarray 2023.1.0 refuses the file, and cftime 1.6.2 takes such units in the calendar 360_day alone.
# What it means: write days, with a calendar.
. "$(dirname "$0")/debian.sh"
packages cdo=2.1.1-1+deb12u1 netcdf-bin=1:4.9.0-3+b1 udunits-bin=2.2.28-5 python3-xarray=2023.01.0-1.1 python3-netcdf4=1.6.2-1+b1 python3-cftime=1.6.2-3+b1
cat >months.cdl <<'CDL'
netcdf months {
dimensions: time = UNLIMITED; lat = 2; lon = 2;
variables:
  double time(time); time:units = "months since 1980-01-31"; time:calendar = "standard"; time:axis = "T";
  double lat(lat); lat:units = "degrees_north"; double lon(lon); lon:units = "degrees_east";
  float x(time, lat, lon);
data: time = 0, 1, 2, 12; lat = 0, 10; lon = 0, 10; x = 1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1;
}
CDL
unpacked ncgen -o months.nc months.cdl
cat >case.py <<'PY'
import cftime, xarray

try:
    xarray.open_dataset("months.nc")
    print("xarray: opened")
except ValueError as error:
    print("xarray: unable to decode" if "unable to decode time" in str(error) else error)
print("cftime, 360_day:", *(str(d)[:10] for d in cftime.num2date([0, 1, 2, 12], "months since 1980-01-30", "360_day")))
PY
dates() { tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
seen 'CDO: 1980-01-31 1980-03-02 1980-03-31 1981-01-31
ncdump -t: time = "1980-01-31", "1980-02-01", "1980-03-01", "1981-01-01" ;
UDUNITS: 1 month = 30.4368 days
xarray: unable to decode
cftime, 360_day: 1980-01-30 1980-02-30 1980-03-30 1981-01-30' "CDO: $(unpacked cdo -s showdate months.nc | dates)
ncdump -t: $(unpacked ncdump -t -v time months.nc | grep ' time = "' | dates)
UDUNITS: $(UDUNITS2_XML_PATH=$root/usr/share/xml/udunits/udunits2.xml unpacked udunits2 -H month -W days | head -n 1 | dates)
$(python case.py)"
