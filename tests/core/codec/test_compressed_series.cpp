// The key `compress` of any writer: rows in chunks of their own, each within its bound; or without loss, by filters
// that every HDF5 has.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/base/error.hpp"
#include "core/codec/codec.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5_recode.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using io::Compression;

namespace {

constexpr std::int64_t cells = 600, modes = 3;

/// Rows that are hard on a codec: random numbers beside what is not finite, constants, the smallest and the largest.
template <class T>
std::vector<T> hard_row(int kind, std::mt19937& random) {
  using Limit = std::numeric_limits<T>;
  std::normal_distribution<double> normal;
  std::vector<T> x(cells * modes);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double r = normal(random);
    x[k] = static_cast<T>(kind == 0   ? r
                          : kind == 1 ? 7.0
                          : kind == 3 ? std::pow(10.0, 15.0 * r)
                                      : std::sin(0.01 * static_cast<double>(k)));
    if (kind == 2) x[k] = static_cast<T>(r) * Limit::denorm_min() * T(1000);
    if (kind == 4 && k % 97 == 0) x[k] = k % 2 ? Limit::infinity() : k % 3 ? -Limit::infinity() : Limit::quiet_NaN();
    if (kind == 5) x[k] = (r > 0 ? T(1) : T(-1)) * Limit::max() / T(3);
  }
  return x;
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Largest (error - bound) of the modes of a row, each with the range of its own values.
template <class T>
double beyond(const std::vector<T>& x, const std::vector<T>& y, const Compression& compress) {
  double most = -1.0;
  for (std::int64_t mode = 0; mode < modes; ++mode) {
    std::vector<T> column;
    for (std::int64_t cell = 0; cell < cells; ++cell) column.push_back(x[cell * modes + mode]);
    const std::int64_t shape[1] = {cells};
    const double bound = lowp::absolute_bound<T>(column, shape, compress.bound(), lowp::LossyPredictor::automatic);
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const T a = x[cell * modes + mode], b = y[cell * modes + mode];
      if (std::isfinite(a))
        most = std::max(most, std::abs(static_cast<double>(a) - static_cast<double>(b)) - bound);
      else
        CHECK(same_bits(a, b));
    }
  }
  return most;
}

template <class T>
void check_rows(const Compression& compress) {
  Scratch scratch("series");
  std::mt19937 random(3);
  std::vector<std::vector<T>> rows;
  for (int kind = 0; kind < 6; ++kind) rows.push_back(hard_row<T>(kind, random));
  const std::int64_t shape[2] = {cells, modes}, chunk[3] = {1, cells, 1};
  {
    auto file = io::File::create(scratch.file("a.h5"));
    auto set = io::create_series(file, "u", dtype_of<T>(), shape, std::optional(compress), chunk);
    for (const auto& row : rows) set.append(io::tensor_of(row.data(), {cells, modes}));
    file.close();
  }
  const auto file = io::File::open(scratch.file("a.h5"));
  for (std::int64_t kind = 0; kind < std::ssize(rows); ++kind) {
    std::vector<T> back(cells * modes);
    file.dataset("u").read_block(std::vector<std::int64_t>{kind, 0, 0}, io::tensor_of(back.data(), {1, cells, modes}));
    INFO("row " << kind);
    if (compress.lossless())
      CHECK(std::equal(back.begin(), back.end(), rows[kind].begin(), same_bits<T>));
    else
      CHECK(beyond(rows[kind], back, compress) <= 0.0);
  }
}

Compression within_relative(double bound, Compression::Type type = Compression::Type::automatic) {
  Compression c;
  c.relative = bound;
  c.type = type;
  return c;
}

Compression lossless() {
  Compression c;
  c.type = Compression::Type::lossless;
  return c;
}

}  // namespace

TEST_CASE("each mode of a row comes back within the bound of its own range") {
  using Type = Compression::Type;
  for (const auto type : {Type::automatic, Type::interpolation, Type::lorenzo, Type::learned}) {
    check_rows<float>(within_relative(1e-4, type));
    check_rows<double>(within_relative(1e-4, type));
  }
  Compression absolute;
  absolute.absolute = 1e-3;
  check_rows<double>(absolute);
  check_rows<float>(absolute);
}

TEST_CASE("lossless rows come back bit for bit and take less room") {
  check_rows<float>(lossless());
  check_rows<double>(lossless());
  Scratch scratch("series");
  auto file = io::File::create(scratch.file("a.h5"));
  const std::int64_t row[1] = {4096};
  auto set = io::create_series(file, "u", DType::f64, row, std::optional(lossless()));
  std::vector<double> x(4096);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k / 16);
  set.append(io::tensor_of(x));
  file.flush();
  CHECK(set.stored_bytes() * 4 < 8 * 4096);
  const std::string name[1] = {"u"};
  CHECK(io::stored_line("a.h5", file, name).starts_with("a.h5: arrays of 0.0328 MB compressed to "));
}

TEST_CASE("the line for the log says what learned corrections gained, frame by frame") {
  Scratch scratch("series");
  auto file = io::File::create(scratch.file("a.h5"));
  const std::int64_t row[3] = {48, 48, 48};
  Compression learned = within_relative(1e-2, Compression::Type::learned);
  auto fronts = io::create_series(file, "fronts", DType::f32, row, std::optional(learned));
  auto noise = io::create_series(file, "noise", DType::f32, row, std::optional(learned));
  std::vector<float> x, y;
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 48; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 48; ++k) {
        x.push_back(static_cast<float>(std::tanh(0.8 * (i - 20 + 5 * std::sin(0.25 * j) * std::cos(0.2 * k)))));
        y.push_back(static_cast<float>(normal(random)));
      }
  for (int frame = 0; frame < 2; ++frame) fronts.append(io::tensor_of(x.data(), {48, 48, 48}));
  noise.append(io::tensor_of(y.data(), {48, 48, 48}));
  file.flush();
  const std::string both[2] = {"fronts", "noise"};
  const auto line = io::stored_line("a.h5", file, both);
  INFO(line);
  const auto at = line.find("; learned corrections in 2 of 3 chunks, for which the plain codec needs ");
  REQUIRE(at != std::string::npos);
  CHECK(std::stod(line.substr(line.find("needs ") + 6)) > 1.01);
  const auto without = io::stored_line("a.h5", file, std::span(both).last(1));
  CHECK(without.ends_with("; learned corrections gain nothing in any of 1 chunks"));
}

TEST_CASE("a chunk within a bound is never written in parts") {
  Scratch scratch("series");
  auto file = io::File::create(scratch.file("a.h5"));
  const std::int64_t shape[2] = {cells, modes}, chunk[2] = {cells, 1};
  auto set = io::allocate(file, "f", DType::f64, shape, chunk, within_relative(1e-3));
  const std::vector<double> half(cells / 2);
  CHECK_THROWS_WITH(set.write_block(std::vector<std::int64_t>{0, 0}, io::tensor_of(half.data(), {cells / 2, 1})),
                    Catch::Contains("its chunks are written in full"));
  CHECK_THROWS_AS(set.write_block(std::vector<std::int64_t>{cells / 2, 0}, io::tensor_of(half.data(), {cells / 2, 1})),
                  InternalError);
}

TEST_CASE("rows of few or of whole numbers are stored exactly") {
  Scratch scratch("series");
  auto file = io::File::create(scratch.file("a.h5"));
  const std::int64_t few[1] = {40};
  auto reals = io::create_series(file, "r", DType::f64, few, std::optional(within_relative(0.1)));
  auto whole = io::create_series(file, "i", DType::i64, few, std::optional(within_relative(0.1)));
  std::vector<double> x(40);
  std::vector<std::int64_t> n(40);
  for (std::size_t k = 0; k < 40; ++k) x[k] = std::sqrt(static_cast<double>(n[k] = static_cast<std::int64_t>(k)));
  for (int row = 0; row < 3; ++row) reals.append(io::tensor_of(x)), whole.append(io::tensor_of(n));
  std::vector<double> three = x;
  for (int row = 1; row < 3; ++row) three.insert(three.end(), x.begin(), x.end());
  CHECK(reals.read<std::vector<double>>() == three);
  CHECK(whole.read<std::vector<std::int64_t>>()[79] == 39);
}

TEST_CASE("a copy without loss has the same bits, and one within a bound is compared with its original") {
  Scratch scratch("series");
  std::vector<double> x(3000), y(3000);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(0.01 * static_cast<double>(k)), y[k] = x[k] + 0.1;
  for (const auto& [name, values] : {std::pair{"a.h5", &x}, {"other.h5", &y}}) {
    auto file = io::File::create(scratch.file(name));
    file.write("u", *values);
    file.close();
  }
  io::compress_file(scratch.file("a.h5"), scratch.file("exact.h5"), lossless());
  CHECK(io::File::open(scratch.file("exact.h5")).read<std::vector<double>>("u") == x);
  CHECK(io::File::open(scratch.file("exact.h5")).dataset("u").stored_bytes() < 8 * 3000);
  const auto list = io::compress_file(scratch.file("a.h5"), scratch.file("near.h5"), within_relative(1e-3));
  io::require_bound(scratch.file("a.h5"), scratch.file("near.h5"), within_relative(1e-3), list);
  CHECK_THROWS_WITH(io::require_bound(scratch.file("other.h5"), scratch.file("near.h5"), within_relative(1e-3), list),
                    Catch::Contains("beyond the bound"));
}
