// Field output that goes through the lossy filter: within the bound, smaller, read by the same library.
#include <cmath>
#include <filesystem>

#include "core/codec/zfp_codec.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using lowp::LossyBound;

namespace {

std::vector<double> frame(int t) {
  std::vector<double> x(64 * 96);
  for (int i = 0; i < 64; ++i)
    for (int k = 0; k < 96; ++k) x[i * 96 + k] = (1 + t) * std::sin(0.1 * i + 0.3 * t) * std::cos(0.05 * k);
  if (t == 1) x[77] = NAN;
  return x;
}

template <class T>
double largest_error(const io::Dataset& set, int t) {
  std::vector<T> stored(64 * 96);
  set.read_block(std::vector<std::int64_t>{t, 0, 0}, io::tensor_of(stored.data(), {1, 64, 96}));
  const auto x = frame(t);
  double most = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    CHECK(std::isnan(x[k]) == std::isnan(stored[k]));
    if (!std::isnan(x[k]))
      most = std::max(most, std::abs(static_cast<double>(stored[k]) - static_cast<double>(static_cast<T>(x[k]))));
  }
  return most;
}

}  // namespace

TEST_CASE("a compressed series is read back within its bound") {
  Scratch scratch("compressed");
  const std::string name = scratch.file("a.h5");
  const std::int64_t row[2] = {64, 96};
  {
    auto file = io::File::create(name);
    auto single = file.create_series("single", DType::f32, row, {LossyBound::Kind::relative, 1e-4});
    auto exact = file.create_series("exact", DType::f64, row);
    auto twice = file.create_series("double", DType::f64, row, {LossyBound::Kind::absolute, 1e-6});
    for (int t = 0; t < 3; ++t)
      for (auto* set : {&single, &exact, &twice}) set->append(io::tensor_of(frame(t).data(), {64, 96}));
    file.close();
  }
  const auto file = io::File::open(name);
  for (int t = 0; t < 3; ++t) {
    INFO("frame " << t);
    // The range of frame t is at most 2 (1 + t).
    const double error = largest_error<float>(file.dataset("single"), t);
    CHECK(error <= 1e-4 * 2 * (1 + t));
    CHECK(error > 1e-6);
    CHECK(largest_error<double>(file.dataset("double"), t) <= 1e-6);
    CHECK(largest_error<double>(file.dataset("exact"), t) == 0.0);
  }
  CHECK(file.dataset("single").stored_bytes() * 15 < 4 * 3 * 64 * 96);
  CHECK(file.dataset("double").stored_bytes() * 6 < 8 * 3 * 64 * 96);
}

TEST_CASE("a series that begins at rest says that nothing can be fitted to its first frame") {
  Scratch scratch("compressed");
  auto file = io::File::create(scratch.file("a.h5"));
  io::Compression compress;
  compress.relative = 1e-3;
  compress.type = io::Compression::Type::learned;
  compress.fit = io::Compression::Fit::first_frame;
  const std::int64_t row[2] = {64, 96};
  std::string said;
  io::create_series(file, "u", DType::f32, row, compress, std::vector<double>(64 * 96, 0.0), said);
  CHECK(said ==
        "has a first frame that is stored exactly, to which nothing can be fitted: no frame is enhanced (fit: "
        "every_frame would fit each)");
}

TEST_CASE("messages of compressed output") {
  auto problem = [](const std::string& deck) {
    return message([&] { deck::read<io::Compression>(deck::parse(deck, "deck.yaml")); });
  };
  CHECK(problem("{relative: 1e-4}") == "no error");
  const std::string one_of = "give one of 'relative', 'absolute' and 'psnr', for example {relative: 1e-4}";
  for (const char* deck : {"{}", "{relative: 1e-4, absolute: 1}", "{psnr: 60, absolute: 1}"})
    CHECK(problem(deck).find(one_of) != std::string::npos);
  CHECK(problem("{relative: 1e-4, groups: 5}")
            .find("'groups' is for learned corrections; add type: learned, or remove it") != std::string::npos);
  CHECK(problem("{relative: 1e-4, type: learned, groups: 5, network: convolution, budget: 2 s, strict: false, fit: "
                "first_frame}") == "no error");
  CHECK(problem("{relative: 1e-4, type: learnd}").find("learned") != std::string::npos);
  CHECK(problem("{relative: 1e-4, type: learned, groups: 40}").find("groups") != std::string::npos);
  CHECK(problem("{psnr: -3}").find("psnr") != std::string::npos);
  if (!lowp::has_zfp())
    CHECK(problem("{relative: 1e-4, type: zfp}").find("this build has no ZFP; install it (Debian: libzfp-dev)") !=
          std::string::npos);
  CHECK(problem("{relative: 0}").find("relative") != std::string::npos);
  Scratch scratch("compressed");
  auto file = io::File::create(scratch.file("b.h5"));
  const std::int64_t huge[2] = {65536, 65536}, row[1] = {4};
  CHECK(message([&] {
          file.create_series("u", DType::f32, huge, {LossyBound::Kind::relative, 1e-4});
        }) == "'/u' in '" + scratch.file("b.h5") +
                  "': a frame of 17.2 GB is too large to be compressed in one piece (at most 2); leave out 'compress'");
  CHECK_THROWS_AS(file.create_series("i", DType::i32, row, {LossyBound::Kind::relative, 1e-4}), InternalError);
}
