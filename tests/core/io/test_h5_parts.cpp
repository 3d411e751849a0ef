// What a data set needs beside its file is asked for when it is opened: parts of virtual data sets, files of external
// storage, filters. Numbers that a type does not hold are refused, types without numbers named.
#include <hdf5.h>
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/h5_recode.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

namespace {

using Doubles = std::vector<double>;

struct Part {
  std::string file, set;
  hsize_t first, count;
};

/// x = first, first + 1, ...
void write_part(const std::string& name, hsize_t first, hsize_t count, const std::string& set = "x") {
  auto file = io::File::create(name);
  Doubles x;
  for (hsize_t k = 0; k < count; ++k) x.push_back(static_cast<double>(first + k));
  file.write(set, x);
  file.close();
}

/// A virtual data set 'x' of whole numbers from 0, joined from parts.
void join(const std::string& name, const std::vector<Part>& parts, const std::string& set = "x", bool anew = true) {
  const hid_t file = anew ? H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                          : H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  hsize_t all = 0;
  for (const auto& part : parts) all += part.count;
  const hid_t space = H5Screate_simple(1, &all, nullptr), properties = H5Pcreate(H5P_DATASET_CREATE);
  for (const auto& part : parts) {
    const hid_t source = H5Screate_simple(1, &part.count, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &part.first, nullptr, &part.count, nullptr);
    H5Pset_virtual(properties, space, part.file.c_str(), part.set.c_str(), source);
    H5Sclose(source);
  }
  H5Sselect_all(space);
  const hid_t made = H5Dcreate2(file, set.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  REQUIRE(made >= 0);
  H5Dclose(made);
  H5Pclose(properties);
  H5Sclose(space);
  H5Fclose(file);
}

/// Blocks of four rows from files or data sets with a number in their names.
void join_series(const std::string& name, const std::string& file_pattern, const std::string& set_pattern) {
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t now = 0, most = H5S_UNLIMITED, block = 4, start = 0, endless = H5S_UNLIMITED, stride = 4;
  const hid_t space = H5Screate_simple(1, &now, &most), source = H5Screate_simple(1, &block, nullptr);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &endless, &block);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  REQUIRE(H5Pset_virtual(properties, space, file_pattern.c_str(), set_pattern.c_str(), source) >= 0);
  const hid_t made = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  REQUIRE(made >= 0);
  H5Dclose(made);
  H5Pclose(properties);
  H5Sclose(space);
  H5Sclose(source);
  H5Fclose(file);
}

Doubles read(const std::string& name, const std::string& set = "x") { return io::File::open(name).read<Doubles>(set); }

Doubles counted(int n) {
  Doubles out;
  for (int k = 0; k < n; ++k) out.push_back(k);
  return out;
}

const std::string fix =
    "silently. Copy the parts to where the joined file names them (relative names count from its folder), name "
    "their folder in HDF5_VDS_PREFIX, or make one complete file where they are: h5repack -l CONTI";

}  // namespace

TEST_CASE("a virtual data set is read where all its parts are, and refused where one is gone") {
  Scratch scratch("parts");
  std::filesystem::create_directories(scratch.folder / "sub");
  write_part(scratch.file("sub/a.h5"), 0, 4);
  write_part(scratch.file("sub/b.h5"), 4, 4);
  const std::string name = scratch.file("whole.h5");
  for (const std::string& folder : {std::string("sub"), (scratch.folder / "sub").string()}) {
    join(name, {{folder + "/a.h5", "x", 0, 4}, {folder + "/b.h5", "x", 4, 4}});
    CHECK(read(name) == counted(8));
  }
  join(name, {{"gone/a.h5", "x", 0, 4}, {"gone/b.h5", "x", 4, 4}});
  CHECK(message([&] { read(name); }) ==
        "'/x' in '" + name +
            "' is a virtual data set, joined from 2 parts, of which 2 are not there: 'gone/a.h5', "
            "'gone/b.h5'; HDF5 would give its fill value for them " +
            fix);
  // It is refused when it is opened, whatever is asked of it then.
  CHECK(message([&] { io::File::open(name).dataset("x"); }) != "no error");
  join(name, {{"sub/a.h5", "x", 0, 4}, {"/nowhere/b.h5", "x", 4, 4}});
  CHECK(message([&] { read(name); }) ==
        "'/x' in '" + name +
            "' is a virtual data set, joined from 2 parts, of which 1 is not there: '/nowhere/b.h5'; "
            "HDF5 would give its fill value for it " +
            fix);
  // Of an absolute name that leads nowhere HDF5 looks for the file beside the joined one.
  write_part(scratch.file("b.h5"), 4, 4);
  CHECK(read(name) == counted(8));
  join(name, {{"sub/a.h5", "x", 0, 4}, {"sub/b.h5", "y", 4, 4}});
  CHECK(message([&] { read(name); }).find("of which 1 is not there: 'y' in '" + scratch.file("sub/b.h5") + "'") !=
        std::string::npos);
}

TEST_CASE("parts are found by the folder of HDF5_VDS_PREFIX, in the same file, and behind other virtual data sets") {
  Scratch scratch("parts");
  std::filesystem::create_directories(scratch.folder / "else");
  write_part(scratch.file("else/a.h5"), 0, 4);
  const std::string name = scratch.file("v.h5");
  join(name, {{"a.h5", "x", 0, 4}});
  CHECK(message([&] { read(name); }) != "no error");
  setenv("HDF5_VDS_PREFIX", (scratch.file("none") + ":" + scratch.file("else")).c_str(), 1);
  CHECK(read(name) == counted(4));
  unsetenv("HDF5_VDS_PREFIX");

  write_part(name, 0, 4);
  join(name, {{".", "x", 0, 4}}, "again", false);
  CHECK(read(name, "again") == counted(4));
  join(name, {{".", "z", 0, 4}}, "lost", false);
  CHECK(message([&] { read(name, "lost"); }).find("of which 1 is not there: 'z' in '" + name + "'") !=
        std::string::npos);

  join(scratch.file("inner.h5"), {{"else/a.h5", "x", 0, 4}});
  join(name, {{"inner.h5", "x", 0, 4}});
  CHECK(read(name) == counted(4));
  std::filesystem::remove(scratch.file("else/a.h5"));
  CHECK(message([&] { read(name); }).find("'/x' in '" + scratch.file("inner.h5") + "' is a virtual data set") == 0);
}

TEST_CASE("blocks with numbers in their names end where HDF5 ends them, but not at a gap") {
  Scratch scratch("parts");
  const std::string name = scratch.file("v.h5");
  join_series(name, "block-%b.h5", "x");
  CHECK(message([&] { read(name); }).find("of which 1 is not there: 'block-0.h5'") != std::string::npos);
  for (int k = 0; k < 3; ++k) write_part(scratch.file("block-" + std::to_string(k) + ".h5"), 4 * k, 4);
  CHECK(read(name) == counted(12));
  std::filesystem::remove(scratch.file("block-1.h5"));
  CHECK(message([&] { read(name); }).find("of which 1 is not there: 'block-1.h5'") != std::string::npos);
  // The number in the name of the data set, and a percent sign of its own.
  join_series(name, "100%%.h5", "x%b");
  write_part(scratch.file("100%.h5"), 0, 4, "x0");
  CHECK(read(name) == counted(4));
}

TEST_CASE("a part that is shorter than its place is refused, one that is open here is read") {
  Scratch scratch("parts");
  const std::string name = scratch.file("v.h5");
  write_part(scratch.file("a.h5"), 0, 4);
  write_part(scratch.file("b.h5"), 4, 2);
  join(name, {{"a.h5", "x", 0, 4}, {"b.h5", "x", 4, 4}});
  CHECK(message([&] { read(name); }) ==
        "'/x' in '" + name + "' is a virtual data set that needs 4 values of '/x' in '" + scratch.file("b.h5") +
            "', which has the shape (2): that part is incomplete, or is another one; copy it again from its source");
  write_part(scratch.file("b.h5"), 4, 4);
  // With the stronger degree of closing HDF5 does not open a part again, and gives zeros.
  {
    const auto part = io::File::open(scratch.file("a.h5"));
    const auto set = part.dataset("x");
    CHECK(read(name) == counted(8));
  }
  const auto writing = io::File::append(scratch.file("a.h5"));
  CHECK(read(scratch.file("a.h5")) == counted(4));
  const std::string text = message([&] { read(name); });
  CHECK(text.starts_with("'/x' in '" + name + "' is a virtual data set, and HDF5 cannot open its part '" +
                         scratch.file("a.h5") + "': "));
  CHECK(
      text.ends_with("; it would give its fill value for it silently. Put back a sound file, that nothing is "
                     "writing"));
}

TEST_CASE("what a copy leaves in other files is gathered in it") {
  Scratch scratch("parts");
  std::filesystem::create_directories(scratch.folder / "far");
  write_part(scratch.file("a.h5"), 0, 4);
  write_part(scratch.file("b.h5"), 4, 4);
  const std::string name = scratch.file("v.h5");
  join(name, {{"a.h5", "x", 0, 4}, {"b.h5", "x", 4, 4}});
  io::Compression compress;
  compress.relative = 1e-3;
  io::compress_file(name, scratch.file("far/copy.h5"), compress);
  CHECK(read(scratch.file("far/copy.h5")) == counted(8));
}

TEST_CASE("files of external storage are there and long enough, or the data set is refused") {
  Scratch scratch("parts");
  const std::string name = scratch.file("e.h5"), raw = scratch.file("values.raw");
  const Doubles values = counted(6);
  std::ofstream(raw, std::ios::binary).write(reinterpret_cast<const char*>(values.data()), 48);
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t n = 6;
  const hid_t space = H5Screate_simple(1, &n, nullptr), properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(properties, raw.c_str(), 0, 48);
  H5Dclose(H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  H5Pclose(properties);
  H5Sclose(space);
  H5Fclose(file);
  CHECK(read(name) == values);
  std::filesystem::resize_file(raw, 40);
  CHECK(message([&] { read(name); }) == "the values of '/x' in '" + name + "' are stored in another file, '" + raw +
                                            "', which holds 40 bytes of 48: HDF5 "
                                            "would give zeros for the others; copy it again from its source");
  std::filesystem::remove(raw);
  CHECK(message([&] { read(name); }) == "the values of '/x' in '" + name + "' are stored in another file, '" + raw +
                                            "', which is not there; put it back. A "
                                            "relative name counts from the folder where the program was started; with "
                                            "HDF5_EXTFILE_PREFIX='${ORIGIN}' from "
                                            "that of the HDF5 file");
}

TEST_CASE("a link to a file that is not there names it") {
  Scratch scratch("parts");
  const std::string name = scratch.file("l.h5");
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("other.h5", "/data", file, "/far", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/nothing", file, "/near", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  CHECK(message([&] { read(name, "far/x"); }) ==
        "'/far' in '" + name +
            "' is a link to '/data' of the file 'other.h5', which is not there or does not hold it; "
            "copy that file to where the link names it (a relative name counts from the folder of '" +
            name + "'), or name its folder in HDF5_EXT_PREFIX");
  CHECK(message([&] { read(name, "near"); }) ==
        "'/near' in '" + name + "' is a link to '/nothing', which is not in the file");
  write_part(scratch.file("other.h5"), 0, 4, "data/x");
  CHECK(read(name, "far/x") == counted(4));
}

namespace {

std::size_t same_bytes(unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
  return bytes;
}

void write_filtered(const std::string& name, H5Z_filter_t id, unsigned flags) {
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t n = 4;
  const hid_t space = H5Screate_simple(1, &n, nullptr), properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 1, &n);
  H5Pset_filter(properties, id, flags, 0, nullptr);
  const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  const Doubles values = counted(4);
  REQUIRE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(set);
  H5Pclose(properties);
  H5Sclose(space);
  H5Fclose(file);
}

}  // namespace

TEST_CASE("a filter that is not here is named when the data set is opened") {
  Scratch scratch("parts");
  const std::string name = scratch.file("f.h5");
  constexpr H5Z_filter_t id = 301;  // for tests
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, id, 1, 1, "squeezer; http://example.org", nullptr, nullptr, same_bytes};
  REQUIRE(H5Zregister(&filter) >= 0);
  write_filtered(name, id, H5Z_FLAG_MANDATORY);
  CHECK(read(name) == counted(4));
  REQUIRE(H5Zunregister(id) >= 0);
  CHECK(message([&] { io::File::open(name).dataset("x"); }) ==
        "'/x' in '" + name +
            "' was compressed by the filter 301 (squeezer), which this HDF5 has not; name the folder "
            "of the filter's library in HDF5_PLUGIN_PATH (in Python: hdf5plugin.PLUGINS_PATH), or write the file "
            "without it "
            "where it can be read: h5repack -f NONE");
  // An optional one that was not there when the chunk was written, either.
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  write_filtered(name, 302, H5Z_FLAG_OPTIONAL);
  CHECK(read(name) == counted(4));
}

namespace {

template <class T>
void write_raw(const std::string& name, hid_t type, const std::vector<T>& values) {
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t n = values.size();
  const hid_t space = H5Screate_simple(1, &n, nullptr);
  const hid_t set = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
}

template <class T>
std::vector<T> read_block(const std::string& name, std::size_t n) {
  std::vector<T> out(n);
  const std::int64_t start = 0;
  io::File::open(name).dataset("x").read_block(std::span(&start, 1), io::tensor_of(out));
  return out;
}

}  // namespace

TEST_CASE("unsigned numbers of 64 bits are exact or refused") {
  Scratch scratch("parts");
  const std::string name = scratch.file("u.h5");
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::string refusal =
      "'/x' in '" + name +
      "' holds 64-bit unsigned integers beyond 2^63 - 1 that signed ones of 64 bits cannot hold; "
      "store them as float64, or less an offset";
  write_raw<std::uint64_t>(name, H5T_NATIVE_UINT64, {0, 5, most});
  CHECK(io::File::open(name).dataset("x").dtype() == DType::i64);
  CHECK(read_block<std::int64_t>(name, 3) == std::vector<std::int64_t>{0, 5, std::numeric_limits<std::int64_t>::max()});
  CHECK(io::File::open(name).read<std::vector<std::int64_t>>("x").back() == std::numeric_limits<std::int64_t>::max());
  write_raw<std::uint64_t>(name, H5T_NATIVE_UINT64, {0, 5, most + 1});
  CHECK(message([&] { read_block<std::int64_t>(name, 3); }) == refusal);
  CHECK(message([&] { io::File::open(name).read<std::vector<std::int64_t>>("x"); }) == refusal);
  CHECK(read(name) == Doubles{0.0, 5.0, 9223372036854775808.0});
  write_raw<std::uint64_t>(name, H5T_STD_U64BE, {0, 5});
  CHECK(read_block<std::int64_t>(name, 2).size() == 2);
  write_raw<std::int8_t>(name, H5T_NATIVE_INT8, {0, 3, -1});
  CHECK(message([&] { read_block<std::uint8_t>(name, 3); }) ==
        "'/x' in '" + name +
            "' holds 8-bit integers below 0 that unsigned ones of 8 bits cannot hold; store them as "
            "signed integers");
}

TEST_CASE("types that are no numbers are named") {
  Scratch scratch("parts");
  const std::string name = scratch.file("t.h5");
  const auto refused = [&](hid_t type, std::size_t bytes) {
    write_raw(name, type, std::vector<char>(bytes, '\0'));
    const std::string text = message([&] { read(name); });
    CHECK(message([&] { io::File::open(name).dataset("x").dtype(); }).starts_with(text.substr(0, text.find(','))));
    return text.substr(text.find("' is ") + 5);
  };
  const std::string end = ", expected numbers; write its values as an array of their own";
  const hid_t complex = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(complex, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(complex, "i", 8, H5T_NATIVE_DOUBLE);
  const hid_t table = H5Tcreate(H5T_COMPOUND, 12);
  H5Tinsert(table, "id", 0, H5T_NATIVE_INT);
  H5Tinsert(table, "energy", 4, H5T_NATIVE_DOUBLE);
  const hid_t opaque = H5Tcreate(H5T_OPAQUE, 5);
  H5Tset_tag(opaque, "pickle");
  const hsize_t three = 3;
  const hid_t array = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three);
  CHECK(refused(complex, 16) == "complex numbers (a compound type of 'r' and 'i')" + end);
  CHECK(refused(table, 12) == "a compound type of 'id', 'energy'" + end);
  CHECK(refused(opaque, 5) == "opaque bytes (tag 'pickle')" + end);
  CHECK(refused(H5T_STD_B8LE, 4) == "a 8-bit bit field" + end);
  CHECK(refused(H5T_STD_REF_OBJ, 8) == "references to objects" + end);
  CHECK(refused(array, 24) == "an array type, (3) of 64-bit floating point in each element" + end);
  for (const hid_t type : {complex, table, opaque, array}) H5Tclose(type);
}
