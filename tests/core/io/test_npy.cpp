#include "core/io/npy.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

namespace {

/// A file of version 1 whose header takes 128 bytes, as numpy.save writes it.
template <class T>
void save_npy(const std::string& path, const std::string& type, const std::string& order, const std::string& shape,
              const std::vector<T>& values) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize(117, ' ');
  std::ofstream out(path, std::ios::binary);
  out << "\x93NUMPY" << '\x01' << '\0' << '\x76' << '\0' << header << '\n';
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

}  // namespace

TEST_CASE("a .npy file read in parts gives the values of the whole") {
  Scratch scratch("npy_parts");
  const std::string path = scratch.file("a.npy");
  std::vector<float> values;
  for (int k = 0; k < 24; ++k) values.push_back(0.5f * static_cast<float>(k) - 3.0f);
  for (const std::string order : {"False", "True"}) {
    save_npy(path, "<f4", order, "(4, 6)", values);
    const io::NpyFile file(path);
    CHECK(file.shape() == std::vector<std::int64_t>{4, 6});
    CHECK(file.elements() == 24);
    CHECK(file.bytes() == 96);
    CHECK(file.row_major() == (order == "False"));
    std::vector<double> joined;
    for (std::int64_t first = 0; first < 24; first += 5) {
      const auto part = file.read(first, std::min<std::int64_t>(5, 24 - first));
      joined.insert(joined.end(), part.begin(), part.end());
    }
    CHECK(joined == std::vector<double>(values.begin(), values.end()));  // in the order of the file
  }
  save_npy<std::int16_t>(path, ">i2", "False", "(3,)", {0x0100, 0x0200, -1});  // the other byte order
  CHECK(io::NpyFile(path).read(0, 2) == std::vector<double>{1, 2});
}

TEST_CASE("a .npy file that is cut while it is read is an error that names it") {
  Scratch scratch("npy_cut");
  const std::string path = scratch.file("a.npy");
  save_npy<double>(path, "<f8", "False", "(8,)", {0, 1, 2, 3, 4, 5, 6, 7});
  const io::NpyFile file(path);
  std::filesystem::resize_file(path, 128 + 6 * 8);
  CHECK(file.read(0, 6) == std::vector<double>{0, 1, 2, 3, 4, 5});
  const std::string said = message([&] { file.read(4, 4); });
  CHECK(said.find(path) != std::string::npos);
  CHECK(said.find("the file ended while it was read; another program may be writing it") != std::string::npos);
  CHECK(message([&] { io::NpyFile{path}; }).find("the file ends early: its header specifies 8 values") !=
        std::string::npos);
}
