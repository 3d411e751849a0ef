// Messages that no deck reaches: those of functions that other programs and plugins call.
#include <cmath>
#include <limits>

#include "apps/c/cambium_train.h"
#include "core/base/error.hpp"
#include "core/codec/codec.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "core/particles/lattice.hpp"
#include "core/train/data/normalizer.hpp"
#include "core/train/session.hpp"
#include "tests/catch.hpp"
#include "tests/messages/odd_dataset.hpp"
#include "tests/scratch.hpp"

namespace cambium::sequence {
void register_types(Registry& registry);
}

using namespace cambium;
using namespace cambium::lowp;

namespace {

template <class F>
std::string said(const F& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

const char* const keys =
    "network: {type: mlp, layers: [2], input: x, target: y}\noptimizer: sgd\nlearning_rate: {type: constant, start: "
    "0.1}\n";

}  // namespace

TEST_CASE("a lattice without cells") {
  LatticeSpec spec;
  spec.a = 3.6;
  spec.cells = {4, 0, 4};
  spec.species = {"Cu"};
  const Comm comm;
  CHECK(said([&] { make_lattice(spec, comm, 1); }) ==
        "a lattice needs positive lengths and at least one cell along each axis; found a = 3.6 Å, c/a = "
        "1.632993161855452, cells [4, 0, 4]");
}

TEST_CASE("samples of several sizes have no mean of each number") {
  const Comm comm;
  Log log;
  Timing timing;
  Context context{const_cast<Comm&>(comm), log, timing};
  OddDataset data({4, true}, context);
  using train::Normalizer;
  CHECK(said([&] { Normalizer::fit(data, "x", Normalizer::Method::standard, Normalizer::Per::each, context); }) ==
        "field 'x' has 1 values in sample 1 and 2 in others: scale it as a whole");
}

TEST_CASE("a matrix that holds no number") {
  std::vector<double> a(9, std::numeric_limits<double>::quiet_NaN()), values(3);
  CHECK(said([&] { symmetric_eigenvectors(3, a.data(), values.data()); }) ==
        "the eigenvalues of a symmetric matrix of 3 rows did not converge; is an entry not finite?");
}

TEST_CASE("arrays of another type or shape than is read") {
  const Scratch scratch("direct_messages");
  const std::string path = scratch.file("a.h5");
  auto file = io::File::create(path);
  file.write("wide", std::vector<std::int64_t>{1, 2, 3});
  const auto wide = file.dataset("wide");
  std::vector<std::int32_t> narrow(3);
  TensorRef out = io::tensor_of(narrow.data(), {3});
  const std::int64_t begin[] = {0}, late[] = {2};
  CHECK(said([&] { wide.read_block(begin, out); }) ==
        "'/wide' in '" + path + "' is 64-bit integer, expected at most 32 bits");
  std::vector<std::int64_t> same(3);
  CHECK(said([&] { wide.read_block(late, io::tensor_of(same.data(), {3})); }) ==
        "'/wide' in '" + path + "' has the shape (3), which does not hold the block (3) at (2)");
  file.write("word", std::string("text"));
  CHECK(said([&] { file.dataset("word").dtype(); }) ==
        "'/word' in '" + path + "' is text, expected numbers; store it as float64, float32 or whole numbers");
}

TEST_CASE("a compressed array without its end") {
  std::vector<double> values(1000);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::sin(0.1 * static_cast<double>(k));
  const std::int64_t shape[] = {1000};
  auto bytes = lossy_encode<double>(values, shape, {});
  bytes.resize(bytes.size() / 2);
  CHECK(said([&] { lossy_decode<double>(bytes, values); }) ==
        "a compressed array is damaged; copy it again from its source");
}

TEST_CASE("a session without samples, and arrays that are none") {
  const Comm comm;
  train::Session session(comm.handle(), keys);
  double number = 1.0;
  const std::vector<train::HostArray> none{{"x", io::tensor_of(&number, {0, 1}), ""},
                                           {"y", io::tensor_of(&number, {0, 1}), ""}};
  const std::vector<train::HostArray> one{{"x", io::tensor_of(&number, {1, 1}), ""},
                                          {"y", io::tensor_of(&number, {1, 1}), ""}};
  CHECK(said([&] { session.step(none); }) ==
        "the first step has no samples on any rank; the network takes its sizes from them");
  session.step(one);
  CHECK(said([&] { session.step(none); }) == "a step has no samples on any rank");
  auto empty = one;
  empty[0].values.data = nullptr;
  CHECK(said([&] { session.step(empty); }) == "array 'x' has no memory (a null pointer)");
  empty[0].values.rank = 0;
  CHECK(said([&] { session.step(empty); }) ==
        "array 'x' has rank 0; pass host memory with 1 to 6 axes, the first of which counts samples");
  double bad = std::numeric_limits<double>::quiet_NaN();
  CHECK(said([&] {
          session.step(std::vector<train::HostArray>{{"x", io::tensor_of(&bad, {1, 1}), ""}, one[1]});
        }) ==
        "the loss of step 2 is nan; the weights are those before the step: look for a bad value in the arrays, or "
        "lower the learning rate (0.1)");
}

TEST_CASE("what the C interface refuses") {
  cambium_train_session* session = nullptr;
  double x = 1.0;
  cambium_array array{"x", nullptr, &x, CAMBIUM_FLOAT64, 2, {1, 1}, {1, 1}};
  CHECK(cambium_train_step(nullptr, &array, 1, nullptr) != 0);
  CHECK(std::string(cambium_train_message()) == "the session is a null pointer; call cambium_train_create first");
  REQUIRE(cambium_train_create(MPI_COMM_SELF, keys, &session) == 0);
  array.rank = 7;
  CHECK(cambium_train_step(session, &array, 1, nullptr) != 0);
  CHECK(std::string(cambium_train_message()) == "array 'x' has 7 axes; give 1 to 6");
  array.rank = 2;
  array.type = 99;
  CHECK(cambium_train_step(session, &array, 1, nullptr) != 0);
  CHECK(std::string(cambium_train_message()) ==
        "array 'x' has the type 99, which is none; use CAMBIUM_FLOAT64 and its like");
  cambium_train_destroy(session);
}

TEST_CASE("a spectrum of a matrix that holds no number") {
  std::vector<double> a(25, std::numeric_limits<double>::quiet_NaN());
  SymmetricSpectrum spectrum;
  CHECK_THROWS_AS(spectrum.compute(a.data(), 5, 5, 0, 2), NumericalError);
  std::fill(a.begin(), a.end(), std::numeric_limits<double>::quiet_NaN());
  CHECK(said([&] { spectrum.compute(a.data(), 5, 5, 0, 2); }) ==
        "an eigenvalue of a symmetric matrix of 5 rows did not converge; is an entry not finite?");
}

TEST_CASE("a network with nothing to give but its loss") {
  const Comm comm;
  train::Session session(comm.handle(),
                         "network: {type: transformer, layers: 1, width: 4, heads: 1}\noptimizer: sgd\nlearning_rate: "
                         "{type: constant, start: 0.1}\n",
                         sequence::register_types);
  double bytes[] = {99, 97, 109, 98};
  const std::vector<train::HostArray> text{{"text", io::tensor_of(bytes, {1, 4}), ""}};
  session.step(text);
  CHECK(said([&] { session.infer(text, {}); }) == "the network 'transformer' has no outputs except its loss");
}
