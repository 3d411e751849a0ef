#include <hdf5.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "core/io/hdf5/h5.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
namespace fs = std::filesystem;

TEST_CASE("numbers, texts and shapes survive a file") {
  Scratch scratch;
  const std::string name = scratch.file("a.h5");
  const std::vector<double> grid{1.5, -2.25, 1e-300, 4, 5, 6};
  {
    auto file = io::File::create(name);
    file.write("a/b/grid", io::tensor_of(grid.data(), {2, 3})).set_attribute("unit", "angstrom");
    file.write("a/count", std::int64_t{1} << 40);
    file.write("title", "Grüße");
    file.write("names", std::vector<std::string>{"Cu", "", "O"});
    file.write("bytes", std::vector<std::int8_t>{-1, 2});
    file.set_attribute("json", std::string(200000, 'x'));
    file.set_attribute("vector", std::vector<double>{1, 2, 3});
    file.set_attribute("seed", 7);
    file.set_attribute("seed", 8);
    file.close();
  }
  const auto file = io::File::open(name);
  const auto grid_set = file.dataset("/a/b/grid");
  CHECK(grid_set.shape() == std::vector<std::int64_t>{2, 3});
  CHECK(grid_set.dtype() == DType::f64);
  CHECK(file.read<std::vector<double>>("a/b/grid") == grid);
  CHECK(grid_set.attribute<std::string>("unit") == "angstrom");
  CHECK(file.read<std::vector<float>>("a/b/grid")[1] == -2.25f);
  CHECK(file.read<std::int64_t>("a/count") == std::int64_t{1} << 40);
  CHECK(file.read<double>("a/count") == 1099511627776.0);
  CHECK(file.read<std::string>("title") == "Grüße");
  CHECK(file.read<std::vector<std::string>>("names") == std::vector<std::string>{"Cu", "", "O"});
  CHECK(file.read<std::vector<int>>("bytes") == std::vector<int>{-1, 2});
  CHECK(file.attribute<std::string>("json").size() == 200000);
  CHECK(file.attribute<std::vector<double>>("vector") == std::vector<double>{1, 2, 3});
  CHECK(file.attribute<int>("seed") == 8);
  CHECK(file.list() == std::vector<std::string>{"a", "bytes", "names", "title"});
  CHECK(file.exists("a/b/grid"));
  CHECK_FALSE(file.exists("a/c/grid"));
  CHECK(file.is_group("a/b"));
  CHECK_FALSE(file.is_group("a/count"));
  CHECK(file.group("a").group("b").path() == "/a/b");
}

TEST_CASE("an attribute has one dimension at most, or netCDF does not open the file") {
  Scratch scratch;
  auto file = io::File::create(scratch.file("a.h5"));
  const std::vector<int> values{1, 2, 3, 4};
  CHECK_THROWS_WITH(file.set_attribute("corners", io::tensor_of(values.data(), {2, 2})),
                    Catch::Contains("attribute 'corners' of '/' in") &&
                        Catch::Contains("has 2 dimensions: netCDF opens no file with an attribute of more"));
}

TEST_CASE("every number type keeps its bits") {
  Scratch scratch;
  auto file = io::File::create(scratch.file("types.h5"));
  auto round_trip = [&](auto zero, const char* name) {
    using T = decltype(zero);
    std::vector<T> values{std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), T(1)};
    const auto set = file.write(name, values);
    CHECK(set.dtype() == dtype_of<T>());
    CHECK(set.template read<std::vector<T>>() == values);
  };
  round_trip(double{}, "f64");
  round_trip(float{}, "f32");
  round_trip(std::int64_t{}, "i64");
  round_trip(std::int32_t{}, "i32");
  round_trip(std::uint32_t{}, "u32");
  round_trip(std::int8_t{}, "i8");
  round_trip(std::uint8_t{}, "u8");
  const std::uint16_t halves[2] = {0x3fc0, 0xc000};  // 1.5 and -2 as bfloat16
  TensorRef bf16 = io::tensor_of(reinterpret_cast<const std::uint8_t*>(halves), {2});
  bf16.dtype = DType::bf16;
  const auto set = file.write("bf16", bf16);
  CHECK(set.dtype() == DType::bf16);
  CHECK(set.read<std::vector<float>>() == std::vector<float>{1.5f, -2.0f});
}

TEST_CASE("a strided tensor is packed and blocks are read back") {
  Scratch scratch;
  auto file = io::File::create(scratch.file("b.h5"));
  std::vector<double> rows(20);
  for (int k = 0; k < 20; ++k) rows[k] = k;
  TensorRef xyz = io::tensor_of(rows.data(), {5, 3});
  xyz.stride[0] = 4;  // rows of four of which three are wanted
  auto set = file.write("xyz", xyz);
  double block[2][2];
  const std::int64_t start[2] = {3, 1};
  TensorRef out = io::tensor_of(&block[0][0], {2, 2});
  set.read_block(start, out);
  CHECK(block[0][0] == 13);
  CHECK(block[1][1] == 18);
  block[1][1] = -1;
  set.write_block(start, out);
  CHECK(set.read<std::vector<double>>()[14] == -1);
}

TEST_CASE("a series grows, is cut and grows again") {
  Scratch scratch;
  const std::string name = scratch.file("series.h5");
  const std::int64_t row[1] = {3};
  {
    auto file = io::File::create(name);
    auto series = file.create_series("x", DType::f64, row);
    auto steps = file.create_series("step", DType::i64, {});
    for (std::int64_t k = 0; k < 5; ++k) {
      series.append(io::tensor_of(std::vector<double>{1.0 * k, 2.0 * k, 3.0 * k}));
      steps.append(io::tensor_of(&k, {}));
    }
    file.close();
  }
  auto file = io::File::append(name);
  auto series = file.dataset("x");
  series.resize(2);
  series.append(io::tensor_of(std::vector<double>{7, 8, 9}));
  CHECK(series.shape() == std::vector<std::int64_t>{3, 3});
  CHECK(series.read<std::vector<double>>() == std::vector<double>{0, 0, 0, 1, 2, 3, 7, 8, 9});
  CHECK(file.read<std::vector<std::int64_t>>("step") == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a file in memory leaves no file") {
  auto file = io::File::in_memory("scratch_never_written.h5");
  file.create_group("a").write("b", 2.0);
  CHECK(file.read<double>("a/b") == 2.0);
  file.close();
  CHECK_FALSE(fs::exists("scratch_never_written.h5"));
}

TEST_CASE("a file that cannot be opened is explained") {
  Scratch scratch;
  const std::string name = scratch.file("x.h5");
  CHECK(message([&] { io::File::open(name); }) == "cannot open '" + name +
                                                      "': there is no such file; check the path (relative paths start "
                                                      "at the folder where the program was started)");
  CHECK(message([&] { io::File::open(scratch.folder.string()); }) ==
        "cannot open '" + scratch.folder.string() + "': it is a folder; name an HDF5 file in it");
  std::ofstream(name) << "";
  CHECK(message([&] { io::File::open(name); }) == "cannot open '" + name +
                                                      "': it is not an HDF5 file or is truncated (it is empty); copy "
                                                      "it again from its source or name another file");
  std::ofstream(name) << "version https://example.org\nsize 3\n";
  CHECK(message([&] { io::File::open(name); }) ==
        "cannot open '" + name +
            "': it is not an HDF5 file or is truncated (its 35 bytes do not begin as an HDF5 file but with 'version "
            "https://example.org'); copy it again from its source or name another file");
  const auto of_another_format = [&](const std::string& begin) {
    std::ofstream(name, std::ios::binary) << begin << std::string(100, ' ');
    return message([&] { io::File::open(name); });
  };
  CHECK(of_another_format("PK\x03\x04") ==
        "cannot open '" + name +
            "': it is a zip archive such as NumPy's .npz, expected HDF5; in Python: file = h5py.File(\"data.h5\", "
            "\"w\"); "
            "[file.create_dataset(name, data=values) for name, values in numpy.load(\"" +
            name + "\").items()]");
  CHECK(of_another_format("\x93NUMPY") ==
        "cannot open '" + name +
            "': it is NumPy's .npy, expected HDF5; in Python: h5py.File(\"data.h5\", \"w\")[\"x\"] = numpy.load(\"" +
            name + "\")");
  for (const char version : {1, 2, 5})
    CHECK(of_another_format(std::string("CDF") + version) ==
          "cannot open '" + name + "': it is netCDF of a classic format, expected HDF5 or netCDF-4: nccopy -k nc4 " +
              name + " NEW.nc");
  CHECK(of_another_format("MATLAB 5.0 MAT-file") ==
        "cannot open '" + name + "': it is a file of MATLAB before version 7.3, expected HDF5; save it with -v7.3");
  CHECK(of_another_format("\x1f\x8b") ==
        "cannot open '" + name + "': it is compressed by gzip, expected HDF5: gunzip " + name);
  CHECK(of_another_format("x,y,z\n1,2,3\n") ==
        "cannot open '" + name + "': it is a table in text, expected HDF5; in Python: table = pandas.read_csv(\"" +
            name +
            "\"); file = h5py.File(\"data.h5\", \"w\"); file[\"x\"] = table[[\"FIRST\", \"SECOND\"]].to_numpy()");
  CHECK(of_another_format("größe;\"a;b\"\r\n1,5;2\r\n").find("pandas.read_csv(\"" + name + "\", sep=\";\")") !=
        std::string::npos);
  CHECK(of_another_format("x\ty\n").find("pandas.read_csv(\"" + name + "\", sep=\"\\t\")") != std::string::npos);
  CHECK(of_another_format("version https://git-lfs.github.com/spec/v1\n") ==
        "cannot open '" + name + "': it is a pointer of Git LFS, expected HDF5; fetch the file itself: git lfs pull");
  CHECK(of_another_format("<!DOCTYPE html>") ==
        "cannot open '" + name +
            "': it is a web page, expected HDF5: its server sent a message instead of the file; download it again");
  CHECK(of_another_format("GRIB") == "cannot open '" + name +
                                         "': it is a GRIB file, expected HDF5 or netCDF-4: cdo -f nc4 copy " + name +
                                         " NEW.nc");
  for (const char* sign : {".zgroup", "zarr.json"}) {
    const std::string store = scratch.file(std::string("store") + sign);
    fs::create_directory(store);
    std::ofstream(store + "/" + sign) << "{}";
    CHECK(message([&] { io::File::open(store); }) ==
          "cannot open '" + store +
              "': it is a Zarr store, expected HDF5 or netCDF-4; in Python: data = xarray.open_zarr(\"" + store +
              "\", mask_and_scale=False); [v.attrs.pop(\"_FillValue\", None) for v in data.variables.values()]; "
              "data.to_netcdf(\"data.nc\") (keep _FillValue where it marks missing values; zarr's default of 0 does "
              "not)");
  }
  io::File::create(name).write("numbers", std::vector<double>(1000, 1.0));
  fs::resize_file(name, 3000);
  CHECK(
      message([&] { io::File::open(name); }) ==
      "cannot open '" + name +
          "': it is truncated (3000 bytes found, 10048 expected); copy it again from its source or name another file");
  const std::string nowhere = scratch.file("no/such/folder.h5");
  CHECK(message([&] { io::File::create(nowhere); }) ==
        "cannot make the file '" + nowhere +
            "': No such file or directory; choose a folder that exists and that you may write to");
}

namespace {

/// A dataset of an enumeration over `base` with these members, as numpy writes booleans.
void write_enumeration(const std::string& path, hid_t base, const std::vector<const char*>& members,
                       const std::vector<std::int8_t>& values) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), type = H5Tenum_create(base);
  for (std::size_t k = 0; k < members.size(); ++k) {
    const std::int64_t number = static_cast<std::int64_t>(k);  // its first bytes are the number in any width
    H5Tenum_insert(type, members[k], &number);
  }
  const hsize_t n = values.size();
  const hid_t space = H5Screate_simple(1, &n, nullptr),
              set = H5Dcreate2(file, "mask", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t memory = H5Tenum_create(H5T_NATIVE_INT8);
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto number = static_cast<std::int8_t>(k);
    H5Tenum_insert(memory, members[k], &number);
  }
  REQUIRE(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Tclose(memory);
  H5Tclose(type);
  H5Fclose(file);
}

}  // namespace

TEST_CASE("booleans are read as 0 and 1, other enumerations are refused") {
  Scratch scratch;
  const std::string name = scratch.file("mask.h5");
  write_enumeration(name, H5T_STD_I8LE, {"FALSE", "TRUE"}, {1, 0, 0, 1, 1});
  {
    const auto file = io::File::open(name);
    CHECK(file.read<std::vector<double>>("mask") == std::vector<double>{1, 0, 0, 1, 1});
    CHECK(file.read<std::vector<float>>("mask") == std::vector<float>{1, 0, 0, 1, 1});
    CHECK(file.read<std::vector<int>>("mask") == std::vector<int>{1, 0, 0, 1, 1});
    CHECK(file.read<std::vector<std::int64_t>>("mask") == std::vector<std::int64_t>{1, 0, 0, 1, 1});
  }
  write_enumeration(name, H5T_STD_I8LE, {"RED", "GREEN", "BLUE"}, {2, 0});
  CHECK(message([&] { io::File::open(name).read<std::vector<int>>("mask"); }) ==
        "'/mask' in '" + name + "' is an enumeration, expected integers");
  write_enumeration(name, H5T_STD_I32LE, {"FALSE", "TRUE"}, {1, 0});
  CHECK(message([&] { io::File::open(name).read<std::vector<double>>("mask"); }) ==
        "'/mask' in '" + name + "' is an enumeration, expected numbers");
}

TEST_CASE("what a file does not hold is named together with what it holds") {
  Scratch scratch;
  const std::string name = scratch.file("y.h5");
  auto file = io::File::create(name);
  file.write("model/weights", std::vector<double>{1, 2});
  file.write("model/name", "se_e2_a");
  file.write("big", std::vector<std::int64_t>{1, std::int64_t{1} << 40});
  file.set_attribute("version", 2);
  const auto model = file.group("model");
  CHECK(message([&] { model.read<double>("bias"); }) ==
        "'" + name + "' has no dataset '/model/bias'; '/model' holds: name, weights");
  CHECK(message([&] { file.group("modle"); }) == "'" + name + "' has no group '/modle'; '/' holds: big, model");
  CHECK(message([&] { file.attribute<std::string>("json"); }) ==
        "'/' in '" + name + "' has no attribute 'json'; it has: version");
  CHECK(message([&] { model.read<double>("weights"); }) ==
        "'/model/weights' in '" + name + "' holds 2 values of shape (2), expected one value");
  CHECK(message([&] { model.read<std::vector<int>>("weights"); }) ==
        "'/model/weights' in '" + name + "' is 64-bit floating point, expected integers");
  CHECK(message([&] { model.read<double>("name"); }) == "'/model/name' in '" + name + "' is text, expected numbers");
  CHECK(message([&] { file.attribute<std::string>("version"); }) ==
        "'/@version' in '" + name + "' is 32-bit integer, expected text");
  CHECK(message([&] { file.read<std::vector<int>>("big"); }) ==
        "'/big' in '" + name + "' holds 64-bit integers that do not fit 32 bits");
  std::vector<double> three(3);
  CHECK(message([&] { model.dataset("weights").read_into(io::tensor_of(three)); }) ==
        "'/model/weights' in '" + name + "' has the shape (2), expected (3)");
}

// The library has one global state and no locks of its own where it was built without them, as with MPI.
TEST_CASE("what one thread asks of the library does not disturb another's files") {
  Scratch scratch("threads");
  const std::string grown = scratch.file("grown.h5");
  io::File::create(grown).close();
  std::thread other([&] {
    for (int k = 0; k < 20000; ++k) io::hdf5_version();
    for (int k = 0; k < 200; ++k) io::File::append(grown).close();
  });
  for (int k = 0; k < 300; ++k) {
    auto file = io::File::create(scratch.file("a.h5"));
    for (const char* name : {"/a/b", "/a/c", "/d"}) file.create_group(name);
    file.link("/a", "/e");
    CHECK(file.list() == std::vector<std::string>{"a", "d", "e"});
    file.close();
  }
  other.join();
}
