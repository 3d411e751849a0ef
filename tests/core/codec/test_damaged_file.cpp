// Compressed files that were damaged: whatever byte is another, either an error is thrown or the values are those of
// the sound file, in less than a second. What is damaged are files of ours, in their own bytes; those that only HDF5
// reads stay as they are where no seal stands before them.
#include <hdf5.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "core/codec/zfp_codec.hpp"
#include "core/io/hdf5/filter.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/h5_recode.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;

constexpr std::int64_t frames = 3, rows = 24, columns = 40;

Floats field() {
  Floats x;
  for (std::int64_t t = 0; t < frames; ++t)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < columns; ++k)
        x.push_back(static_cast<float>(std::tanh(0.4 * static_cast<double>(i - 12 + t)) +
                                       0.2 * std::sin(0.3 * static_cast<double>(k)) + 1e-4 * ((i * k) % 7)));
  return x;
}

/// A series of frames, an array with a number for missing values, and one of whole numbers.
void write_plain(const std::string& name) {
  auto x = field();
  auto file = io::File::create(name);
  const std::int64_t row[2] = {rows, columns};
  auto series = file.create_series("series", DType::f32, row);
  for (std::int64_t t = 0; t < frames; ++t)
    series.append(io::tensor_of(x.data() + t * rows * columns, {rows, columns}));
  x[77] = x[500] = -999.0f;
  file.write("holes", io::tensor_of(x.data(), {frames, rows, columns})).set_attribute("_FillValue", -999.0f);
  file.write("numbers", std::vector<std::int64_t>(100, 42));
  file.close();
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

struct Values {
  Floats series, holes;
  std::vector<std::int64_t> numbers;
  bool operator==(const Values&) const = default;
};

Values values_of(const std::string& name) {
  const auto file = io::File::open(name);
  return {file.read<Floats>("series"), file.read<Floats>("holes"), file.read<std::vector<std::int64_t>>("numbers")};
}

std::vector<io::Compression> codings() {
  std::vector<io::Compression> out(5);
  for (auto& coding : out) coding.relative = 1e-3;
  out[1].type = io::Compression::Type::learned;
  out[1].budget = 0.2;
  out[2] = out[1];
  out[2].fit = io::Compression::Fit::first_frame;
  out[3].relative.reset();
  out[3].psnr = 60.0;
  out[4].type = io::Compression::Type::zfp;
  if (!lowp::has_zfp()) out.pop_back();
  return out;
}

double seconds_of(const std::function<void()>& action) {
  const auto begun = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// One byte, or four, another.
std::string damaged(std::string bytes, std::size_t from, std::size_t to, std::uint64_t id) {
  const Random4 r(11, Stream::test, id, 0);
  const auto at = from + static_cast<std::size_t>(r.bits[0]) % (to - from);
  for (std::size_t k = at; k < std::min(to, at + (r.bits[1] % 2 ? 1 : 4)); ++k)
    bytes[k] = static_cast<char>(bytes[k] ^ static_cast<char>(1 + r.bits[2] % 255));
  return bytes;
}

/// Decompresses `bytes` as a file; what came out, or nothing where it was refused.
std::optional<Values> decompressed(const std::string& bytes, const Scratch& scratch) {
  const std::string from = scratch.file("damaged.h5"), to = scratch.file("out.h5");
  fs::remove(from);
  fs::remove(to);
  std::ofstream(from, std::ios::binary) << bytes;
  try {
    io::decompress_file(from, to);
  } catch (const InputError&) {
    CHECK_FALSE(fs::exists(to));
    return std::nullopt;
  }
  return values_of(to);
}

/// Where the chunks of a compressed data set lie in the file.
std::vector<std::pair<std::size_t, std::size_t>> chunks_of(const std::string& name, const char* set) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  const hid_t file = H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), opened = H5Dopen2(file, set, H5P_DEFAULT);
  const hid_t space = H5Dget_space(opened);
  hsize_t n = 0;
  H5Dget_num_chunks(opened, space, &n);
  for (hsize_t k = 0; k < n; ++k) {
    hsize_t offset[H5S_MAX_RANK], bytes = 0;
    haddr_t address = 0;
    unsigned mask = 0;
    H5Dget_chunk_info(opened, space, k, offset, &mask, &address, &bytes);
    out.emplace_back(static_cast<std::size_t>(address), static_cast<std::size_t>(address + bytes));
  }
  H5Sclose(space);
  H5Dclose(opened);
  H5Fclose(file);
  return out;
}

}  // namespace

TEST_CASE("a compressed file that was damaged gives an error or its own values, and soon") {
  Scratch scratch("damaged");
  const std::string plain = scratch.file("plain.h5");
  write_plain(plain);
  std::uint64_t id = 0;
  for (const auto& coding : codings()) {
    const std::string packed = scratch.file("packed.h5");
    fs::remove(packed);
    io::compress_file(plain, packed, coding, 100);
    CHECK(io::seal_of(packed) == io::Seal::sound);
    const std::string whole = content(packed);
    const auto sound = decompressed(whole, scratch);
    REQUIRE(sound);
    CHECK(sound->numbers == std::vector<std::int64_t>(100, 42));
    CHECK(sound->holes[77] == -999.0f);
    const auto judge = [&](const std::string& bytes) {
      std::optional<Values> got;
      const double seconds = seconds_of([&] { got = decompressed(bytes, scratch); });
      CHECK(seconds < 1.0);
      CHECK((!got || *got == *sound));
      return !got;
    };
    // Anywhere in the file: the seal tells before HDF5 opens it.
    int refused = 0;
    for (int k = 0; k < 60; ++k) refused += judge(damaged(whole, 0, whole.size(), ++id));
    CHECK(refused == 60);
    // The end is missing.
    for (const std::size_t left : {whole.size() - 32, whole.size() - 33, whole.size() / 2})
      judge(whole.substr(0, left));
    // Without a seal, as in the files of a run: in the chunks.
    refused = 0;
    const std::string unsealed = whole.substr(0, whole.size() - 32);
    for (const char* set : {"series", "holes"})
      for (const auto& [from, to] : chunks_of(packed, set))
        for (int k = 0; k < 10; ++k) refused += judge(damaged(unsealed, from, to, ++id));
    CHECK(refused == 10 * (frames + 1));
  }
}

TEST_CASE("a chunk that the index of a file has lost is not taken for missing values") {
  Scratch scratch("damaged");
  const std::string plain = scratch.file("plain.h5"), packed = scratch.file("packed.h5");
  write_plain(plain);
  io::compress_file(plain, packed, codings()[0], 100);
  {
    auto file = io::File::append(packed);
    file.dataset("series").resize(frames + 2);
    file.close();
  }
  CHECK(message([&] { io::decompress_file(packed, scratch.file("out.h5")); }) ==
        "'/series' in '" + packed +
            "' is damaged: its compressed chunk at (3, 0, 0) is not in the file; copy the file "
            "again from its source");
}

namespace {

/// The filter alone on one chunk; what came out, or nothing where it fails.
std::optional<std::vector<std::byte>> filtered(bool back, const std::vector<unsigned>& values,
                                               const std::vector<std::byte>& chunk) {
  std::size_t size = chunk.size();
  void* buffer = std::malloc(size);
  std::memcpy(buffer, chunk.data(), size);
  const auto n =
      io::lossy_filter.filter(back ? H5Z_FLAG_REVERSE : 0u, values.size(), values.data(), size, &size, &buffer);
  std::optional<std::vector<std::byte>> out;
  if (n > 0) out.emplace(static_cast<std::byte*>(buffer), static_cast<std::byte*>(buffer) + n);
  std::free(buffer);
  return out;
}

}  // namespace

TEST_CASE("what a file says of a compressed array is covered by a checksum") {
  const auto all = field();
  const Floats x(all.begin(), all.begin() + rows * columns);
  const auto bytes = std::as_bytes(std::span(x));
  lowp::FieldCoding coding;
  coding.bound = {lowp::LossyBound::Kind::relative, 1e-3};
  coding.learned.emplace();
  coding.learned->fit.seconds = 0.2;
  const std::vector<std::int64_t> shape{rows, columns};
  lowp::EnhancedReport report;
  const auto weights =
      lowp::enhancer_for<float>(x, shape, coding.bound, coding.predictor, coding.learned->fit, {}, report);
  if (!weights) coding.learned.reset();
  const auto values = io::lossy_filter_values(coding, weights ? &*weights : nullptr, 4, {rows, columns}, {-999.0});
  CHECK(io::has_checksum(values.size(), values.data()));
  const auto packed = filtered(false, values, {bytes.begin(), bytes.end()});
  REQUIRE(packed);
  const auto sound = filtered(true, values, *packed);
  REQUIRE(sound);
  CHECK(sound->size() == bytes.size());
  for (std::size_t word = 0; word < values.size(); ++word)
    for (const unsigned flip : {1u, 0x80u, 0x10000u, 0x80000000u}) {
      auto other = values;
      other[word] ^= flip;
      std::optional<std::vector<std::byte>> got;
      CHECK(seconds_of([&] { got = filtered(true, other, *packed); }) < 1.0);
      CHECK((!got || *got == *sound));
    }
}

TEST_CASE("arrays that earlier versions compressed are read, and said to be unverified") {
  const auto all = field();
  const Floats x(all.begin(), all.begin() + rows * columns);
  const auto bytes = std::as_bytes(std::span(x));
  // Version 1: version, bytes per value, kind of bound (relative), bound, extents.
  std::vector<unsigned> values{1, 4, static_cast<unsigned>(lowp::LossyBound::Kind::relative), 0, 0, rows, columns};
  const double bound = 1e-3;
  std::memcpy(values.data() + 3, &bound, sizeof bound);
  CHECK_FALSE(io::has_checksum(values.size(), values.data()));
  const auto packed = filtered(false, values, {bytes.begin(), bytes.end()});
  REQUIRE(packed);
  const auto back = filtered(true, values, *packed);
  REQUIRE(back);
  Floats y(x.size());
  std::memcpy(y.data(), back->data(), back->size());
  for (std::size_t k = 0; k < x.size(); ++k) CHECK(std::abs(x[k] - y[k]) < 3e-3f);
}
