#include "core/io/hdf5/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace cambium::io {

namespace {

/// {0} is replaced by the path.
struct Format {
  std::string_view begin;
  const char* words;
};
constexpr Format formats[] = {
    {"PK\x03\x04",
     "a zip archive such as NumPy's .npz, expected HDF5; in Python: file = h5py.File(\"data.h5\", \"w\"); "
     "[file.create_dataset(name, data=values) for name, values in numpy.load(\"{0}\").items()]"},
    {"\x93NUMPY", "NumPy's .npy, expected HDF5; in Python: h5py.File(\"data.h5\", \"w\")[\"x\"] = numpy.load(\"{0}\")"},
    {"CDF\x01", "netCDF of a classic format, expected HDF5 or netCDF-4: nccopy -k nc4 {0} NEW.nc"},
    {"CDF\x02", "netCDF of a classic format, expected HDF5 or netCDF-4: nccopy -k nc4 {0} NEW.nc"},
    {"CDF\x05", "netCDF of a classic format, expected HDF5 or netCDF-4: nccopy -k nc4 {0} NEW.nc"},
    {"GRIB", "a GRIB file, expected HDF5 or netCDF-4: cdo -f nc4 copy {0} NEW.nc"},
    {"\x0e\x03\x13\x01", "HDF4, expected HDF5: h4toh5 {0} NEW.h5"},
    {"MATLAB 5.0", "a file of MATLAB before version 7.3, expected HDF5; save it with -v7.3"},
    {"PAR1",
     "a Parquet table, expected HDF5; in Python: table = pandas.read_parquet(\"{0}\"); file = h5py.File(\"data.h5\", "
     "\"w\"); file[\"x\"] = table[[\"FIRST\", \"SECOND\"]].to_numpy()"},
    {"\x1f\x8b", "compressed by gzip, expected HDF5: gunzip {0}"},
    {"BZh", "compressed by bzip2, expected HDF5: bunzip2 {0}"},
    {"\xFD\x37zXZ", "compressed by xz, expected HDF5: unxz {0}"},
    {"\x28\xB5\x2F\xFD", "compressed by zstd, expected HDF5: unzstd {0}"},
    {"version https://git-lfs", "a pointer of Git LFS, expected HDF5; fetch the file itself: git lfs pull"},
    {"<!DOCTYPE", "a web page, expected HDF5: its server sent a message instead of the file; download it again"},
    {"<!doctype", "a web page, expected HDF5: its server sent a message instead of the file; download it again"},
    {"<html", "a web page, expected HDF5: its server sent a message instead of the file; download it again"}};

/// The separator of a line of text that looks like a row of a table; 0 if it does not.
char separator_of(const std::string& path, std::string line) {
  line = line.substr(0, line.find_first_of("\r\n"));
  const auto printed = [](char c) { return c == '\t' || static_cast<unsigned char>(c) >= 32; };
  if (line.size() < 3 || !std::all_of(line.begin(), line.end(), printed)) return 0;
  for (const char c : {';', '\t', ','})
    if (line.find(c) != std::string::npos) return c;
  const auto ending = std::filesystem::path(path).extension();
  return ending == ".csv" || ending == ".tsv" ? ',' : 0;
}

}  // namespace

std::string foreign_format(const std::string& path, const std::string& begin) {
  for (const auto& format : formats)
    if (begin.starts_with(format.begin)) return fmt::format(fmt::runtime(format.words), path);
  const char separator = separator_of(path, begin);
  if (separator == 0) return {};
  const std::string cut = separator == ',' ? "" : separator == ';' ? ", sep=\";\"" : ", sep=\"\\t\"";
  return fmt::format(
      "a table in text, expected HDF5; in Python: table = pandas.read_csv(\"{}\"{}); file = h5py.File(\"data.h5\", "
      "\"w\"); file[\"x\"] = table[[\"FIRST\", \"SECOND\"]].to_numpy()",
      path, cut);
}

std::string foreign_folder(const std::string& path, const std::string& inside) {
  for (const char* sign : {".zgroup", ".zarray", ".zmetadata", "zarr.json"})
    if (std::error_code none; std::filesystem::exists(std::filesystem::path(path) / sign, none))
      // xarray 2023.1 takes zarr's default fill_value of 0 for a mark of missing values: decoded, stored zeros become
      // NaN.
      return fmt::format(
          "a Zarr store, expected HDF5 or netCDF-4; in Python: data = xarray.open_zarr(\"{}\", mask_and_scale=False); "
          "[v.attrs.pop(\"_FillValue\", None) for v in data.variables.values()]; data.to_netcdf(\"data.nc\") (keep "
          "_FillValue where it marks missing values; zarr's default of 0 does not)",
          path);
  return fmt::format("a folder; name {} in it", inside);
}

}  // namespace cambium::io
