// Losses over all ranks: values, derivatives and estimates as on one process, derivatives as differences of the
// objective, what travels, and going on from a checkpoint.
#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/pretrain/contrastive/contrastive_loss.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/pretrain/contrastive/plain_contrastive.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;
using Scheme = ContrastiveScheme;

namespace {

constexpr Scheme schemes[] = {Scheme::infonce, Scheme::v0, Scheme::v1, Scheme::v2, Scheme::v3};
constexpr std::int64_t samples = 24, batch = 12, width = 5;

ContrastiveKeys keys_of(Scheme scheme) {
  ContrastiveKeys keys;
  keys.scheme = scheme;
  keys.inner_rate = {InnerRateKeys::Form::cosine, 0.3, 3.0};
  return keys;
}

/// Unit features of a sample; partners are alike.
std::vector<double> feature(std::int64_t id, int view, std::int64_t step) {
  std::vector<double> out;
  const auto normal = [&](int stream, std::int64_t k) {
    return Random4(static_cast<std::uint64_t>(stream), Stream::test, static_cast<std::uint64_t>(id * 100 + k),
                   static_cast<std::uint64_t>(step))
        .normal(0);
  };
  for (std::int64_t k = 0; k < width; ++k) out.push_back(normal(7, k) + 0.8 * normal(view, k));
  const double length = std::sqrt(dot(out, out));
  for (double& x : out) x /= length;
  return out;
}

/// Every second sample in one step, the others in the next, in another order in every epoch.
std::vector<std::int64_t> ids_of(std::int64_t step) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < batch; ++k) out.push_back((2 * ((k * 5 + step * 3) % batch) + step % 2) % samples);
  return out;
}

struct Step {
  Rows a, b;
  std::vector<std::int64_t> ids;
  explicit Step(std::int64_t number) : ids(ids_of(number)) {
    for (const auto id : ids) {
      a.push_back(feature(id, 0, number));
      b.push_back(feature(id, 1, number));
    }
  }
};

/// The rows of a rank; shares differ.
std::pair<std::size_t, std::size_t> share(const Comm& comm) {
  const auto cut = [&](int rank) { return static_cast<std::size_t>(batch * rank / comm.size()); };
  return {cut(comm.rank()), cut(comm.rank() + 1)};
}

template <class T>
struct Own {
  std::vector<T> a, b;
  std::vector<std::int64_t> ids;
  Own(const Step& step, const Comm& comm) {
    const auto [from, to] = share(comm);
    for (std::size_t k = from; k < to; ++k) {
      for (std::int64_t c = 0; c < width; ++c) {
        a.push_back(static_cast<T>(step.a[k][c]));
        b.push_back(static_cast<T>(step.b[k][c]));
      }
      ids.push_back(step.ids[k]);
    }
  }
  TwoViews<T> views() const { return {a, b, width, ids}; }
};

template <class T>
void require_near(const std::vector<T>& mine, const Rows& plain, std::size_t from, double bound) {
  double largest = 0.0;
  for (const auto& row : plain)
    for (const double x : row) largest = std::max(largest, std::abs(x));
  for (std::size_t k = 0; k < mine.size(); ++k)
    REQUIRE(std::abs(static_cast<double>(mine[k]) - plain[from + k / width][k % width]) <= bound * largest);
}

template <class T>
void check_against_plain(Scheme scheme, const Comm& comm, double bound) {
  const auto keys = keys_of(scheme);
  ContrastiveLoss loss(keys, samples, comm);
  PlainContrastive plain(keys, samples);
  for (std::int64_t number = 0; number < 8; ++number) {
    const Step step(number);
    const Own<T> own(step, comm);
    const double tau = 0.07 + 0.01 * static_cast<double>(number);
    const auto mine = loss.compute(own.views(), tau);
    const auto all = plain.step(step.a, step.b, step.ids, tau);
    const auto near = [&](double x, double reference) {
      REQUIRE(comm.sum(x) == Approx(reference).epsilon(bound).margin(bound * batch));
    };
    CHECK(mine.batch == batch);
    near(mine.infonce, all.infonce);
    near(mine.objective, all.objective);
    near(mine.temperature, all.temperature);
    require_near(mine.first, all.first, share(comm).first, bound);
    require_near(mine.second, all.second, share(comm).first, bound);
  }
  if (scheme == Scheme::infonce) return;
  const auto rows = loss.kept().at("estimates");
  const std::size_t columns = rows.size() / samples;
  REQUIRE(columns == (scheme == Scheme::v2 ? 10 : 2));
  for (std::int64_t id = 0; id < samples; ++id)
    for (int view = 0; view < 2; ++view) {
      const auto& state = plain.state(id, view);
      const double* row = rows.data() + static_cast<std::size_t>(id) * columns;
      const double* from = row + static_cast<std::size_t>(view) * columns / 2;
      CHECK(from[0] == Approx(state.u).epsilon(10 * bound));
      if (columns == 10) CHECK(from[2] == Approx(state.tau).epsilon(10 * bound));
    }
}

}  // namespace

TEST_CASE("losses, derivatives and estimates over all ranks are those of plain loops on one process") {
  const Comm comm;
  for (const auto scheme : schemes) {
    CAPTURE(static_cast<int>(scheme));
    check_against_plain<double>(scheme, comm, 1e-12);
    check_against_plain<float>(scheme, comm, 3e-5);
  }
}

TEST_CASE("a batch of several hundred samples on one rank is that of plain loops") {
  constexpr std::int64_t many = 600;  // more than are taken at a time anywhere
  const Comm alone(MPI_COMM_SELF);
  for (const auto scheme : {Scheme::infonce, Scheme::v2, Scheme::v3}) {
    CAPTURE(static_cast<int>(scheme));
    Rows a, b;
    std::vector<std::int64_t> ids;
    std::vector<double> first, second;
    for (std::int64_t id = 0; id < many; ++id) {
      a.push_back(feature(id, 0, 0));
      b.push_back(feature(id, 1, 0));
      ids.push_back(id);
      first.insert(first.end(), a.back().begin(), a.back().end());
      second.insert(second.end(), b.back().begin(), b.back().end());
    }
    ContrastiveLoss loss(keys_of(scheme), many, alone);
    PlainContrastive plain(keys_of(scheme), many);
    const auto mine = loss.compute(TwoViews<double>{first, second, width, ids}, 0.1);
    const auto all = plain.step(a, b, ids, 0.1);
    CHECK(mine.objective == Approx(all.objective).epsilon(1e-12));
    CHECK(mine.temperature == Approx(all.temperature).epsilon(1e-11));
    require_near(mine.first, all.first, 0, 1e-11);
    require_near(mine.second, all.second, 0, 1e-11);
  }
}

TEST_CASE("in float the ranks' derivatives are those of one rank to 1e-6") {
  const Comm comm, alone(MPI_COMM_SELF);
  for (const auto scheme : schemes) {
    CAPTURE(static_cast<int>(scheme));
    ContrastiveLoss together(keys_of(scheme), samples, comm), one(keys_of(scheme), samples, alone);
    for (std::int64_t number = 0; number < 4; ++number) {
      const Step step(number);
      const Own<float> own(step, comm), whole(step, alone);
      const auto mine = together.compute(own.views(), 0.1);
      const auto all = one.compute(whole.views(), 0.1);
      double largest = 0.0;
      for (const float x : all.first) largest = std::max(largest, static_cast<double>(std::abs(x)));
      const auto from = share(comm).first * width;
      for (std::size_t k = 0; k < mine.first.size(); ++k)
        REQUIRE(std::abs(mine.first[k] - all.first[from + k]) <=
                (scheme == Scheme::v2 ? 1e-5 : 1e-6) * largest);  // v2: temperatures of 0.01
    }
  }
}

TEST_CASE("with an inner rate of 1 the derivatives are differences of the objective") {
  const Comm comm;
  const double h = 1e-6;
  for (const auto scheme : schemes) {
    CAPTURE(static_cast<int>(scheme));
    const auto objective = [&](const Step& step, double tau) {
      ContrastiveLoss loss(keys_of(scheme), samples, comm);
      return comm.sum(loss.compute(Own<double>(step, comm).views(), tau).objective);
    };
    const Step step(0);
    ContrastiveLoss loss(keys_of(scheme), samples, comm);
    const auto result = loss.compute(Own<double>(step, comm).views(), 0.1);
    const auto [from, to] = share(comm);
    for (std::size_t k = 0; k < batch; k += 5)
      for (std::size_t c = 0; c < width; ++c) {
        Step above = step, below = step;
        above.a[k][c] += h;
        below.a[k][c] -= h;
        const double difference = (objective(above, 0.1) - objective(below, 0.1)) / (2 * h);
        if (k < from || k >= to) continue;
        CHECK(result.first[(k - from) * width + c] == Approx(difference).epsilon(1e-6).margin(1e-6));
      }
    if (scheme == Scheme::v2) continue;
    const double by_temperature = (objective(step, 0.1 + h) - objective(step, 0.1 - h)) / (2 * h);
    CHECK(comm.sum(result.temperature) == Approx(by_temperature).epsilon(1e-6));
  }
}

TEST_CASE("features and two numbers per sample are gathered, and rows of estimates go to their ranks") {
  const Comm comm;
  const auto bytes = [&](Scheme scheme, const std::string& name) {
    ContrastiveLoss loss(keys_of(scheme), samples, comm);
    loss.compute(Own<float>(Step(0), comm).views(), 0.1);
    std::int64_t sum = 0;
    for (const auto& row : loss.traffic().rows())
      if (row.collective == name) sum += row.bytes;
    return comm.sum(sum);
  };
  for (const auto scheme : schemes) {
    CHECK(bytes(scheme, "features") == 2 * batch * width * 4);
    CHECK(bytes(scheme, "scalars") == (scheme == Scheme::v2 ? 6 : 2) * batch * 8);
    const std::int64_t row = scheme == Scheme::v2 ? 10 : 2;
    const auto estimates = bytes(scheme, "estimates");
    if (scheme == Scheme::infonce || comm.size() == 1)
      CHECK(estimates == 0);
    else
      CHECK(estimates <= batch * 8 * (1 + 2 * row));  // its number there, the row here and back
  }
}

TEST_CASE("a loss goes on from what it kept, bit for bit, and on another number of ranks") {
  const Comm comm, alone(MPI_COMM_SELF);
  for (const auto scheme : schemes) {
    CAPTURE(static_cast<int>(scheme));
    ContrastiveLoss whole(keys_of(scheme), samples, comm);
    for (std::int64_t number = 0; number < 5; ++number) whole.compute(Own<double>(Step(number), comm).views(), 0.1);
    ContrastiveLoss resumed(keys_of(scheme), samples, comm), elsewhere(keys_of(scheme), samples, alone);
    const auto kept = whole.kept();
    resumed.take(kept);
    elsewhere.take(kept);
    CHECK(resumed.epoch() == 2);
    const Step step(5);
    const auto a = whole.compute(Own<double>(step, comm).views(), 0.1);
    const auto b = resumed.compute(Own<double>(step, comm).views(), 0.1);
    const auto c = elsewhere.compute(Own<double>(step, alone).views(), 0.1);
    CHECK(a.first == b.first);
    CHECK(a.second == b.second);
    CHECK(whole.kept() == resumed.kept());
    const auto from = share(comm).first * width;
    for (std::size_t k = 0; k < a.first.size(); ++k)
      CHECK(a.first[k] == Approx(c.first[from + k]).epsilon(1e-10).margin(1e-12));
  }
}

TEST_CASE("a batch of one sample has nobody to be compared with") {
  const Comm alone(MPI_COMM_SELF);
  ContrastiveLoss loss(keys_of(Scheme::v3), samples, alone);
  const auto a = feature(0, 0, 0), b = feature(0, 1, 0);
  const std::int64_t id[] = {0};
  const auto result = loss.compute(TwoViews<double>{a, b, width, id}, 0.1);
  CHECK(result.first == std::vector<double>(width, 0.0));
  CHECK(loss.epoch() == 0);
}

TEST_CASE("estimates of another loss are refused") {
  const Comm alone(MPI_COMM_SELF);
  ContrastiveLoss v2(keys_of(Scheme::v2), samples, alone), v3(keys_of(Scheme::v3), samples, alone);
  REQUIRE_THROWS_WITH(v3.take(v2.kept()),
                      "the checkpoint holds 10 values per sample, the loss of the deck 2; resume with the same "
                      "loss.scheme");
  REQUIRE_THROWS_WITH(v3.take({}),
                      "the checkpoint holds no estimates of a contrastive loss; resume with the model that wrote it");
}

TEST_CASE("the inner rate is 1 in the first epoch and falls along half a cosine") {
  InnerRateKeys keys{InnerRateKeys::Form::cosine, 0.2, 4.0};
  CHECK(keys.at(0) == 1.0);
  CHECK(keys.at(2) == Approx(0.6));
  CHECK(keys.at(4) == 0.2);
  keys.form = InnerRateKeys::Form::constant;
  CHECK(keys.at(0) == 1.0);
  CHECK(keys.at(1) == 0.2);
}
