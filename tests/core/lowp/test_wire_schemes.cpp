// What the codecs are for: gradients summed in two levels, weights sent as differences.
#include <cmath>

#include "core/lowp/bfloat16.hpp"
#include "core/lowp/groups.hpp"
#include "core/lowp/hadamard.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

using Numbers = std::vector<float>;

Numbers normal_numbers(std::int64_t n, std::uint64_t id) {
  Numbers x(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) x[k] = static_cast<float>(Random4(22, Stream::test, k, id).normal(0));
  return x;
}

/// One of 256 numbers a hundred times as wide.
Numbers heavy_tailed(std::int64_t n, std::uint64_t id) {
  auto x = normal_numbers(n, id);
  for (std::int64_t k = 0; k < n; ++k)
    if (Random4(23, Stream::test, k, id).bits[0] % 256 == 0) x[k] *= 100.0f;
  return x;
}

double kurtosis(const Numbers& x) {
  double two = 0, four = 0;
  for (float v : x) {
    two += std::pow(v, 2) / x.size();
    four += std::pow(v, 4) / x.size();
  }
  return four / (two * two);
}

/// |found - exact| / |exact|
double relative_error(const Numbers& found, const Numbers& exact) {
  double difference = 0, size = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    difference += std::pow(double(found[k]) - exact[k], 2);
    size += std::pow(exact[k], 2);
  }
  return std::sqrt(difference / size);
}

Numbers sent_through(GroupFormat format, const Numbers& x, const RoundingAddress& address) {
  std::vector<std::byte> message(format.bytes(std::ssize(x)));
  encode_groups(format, x, address, message);
  Numbers y(x.size());
  decode_groups(format, message, y);
  return y;
}

/// The sum of 8 ranks, 2 nodes of 4, as it arrives: 8 bits within a node, decoded and added, 4 bits between nodes.
Numbers two_levels(const std::vector<Numbers>& ranks, bool transform) {
  Numbers total(ranks[0].size());
  for (std::size_t node = 0; node < 2; ++node) {
    Numbers sum(total.size());
    for (std::size_t r = 4 * node; r < 4 * node + 4; ++r) {
      auto x = ranks[r];
      if (transform) randomised_hadamard(x);
      const auto y = sent_through(int8_groups, x, {1, r, 0, 0});
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += y[k];
    }
    const auto y = sent_through(int4_groups, sum, {1, 100 + node, 0, 0});
    for (std::size_t k = 0; k < sum.size(); ++k) total[k] += y[k];
  }
  if (transform) inverse_randomised_hadamard(total);
  return total;
}

}  // namespace

TEST_CASE("errors of the formats on normal and heavy-tailed numbers") {
  // References: another program's figures for these formats and distributions (16,384 numbers, numpy); of groups of
  // 2048 that sample held eight, whose maxima happen to be small. Rounding at random makes an error of step / sqrt(6).
  const auto x = normal_numbers(1 << 17, 1);
  double steps = 0, size = 0;
  for (std::size_t g = 0; g < x.size(); g += 2048) {
    float most = 0;
    for (std::size_t k = g; k < g + 2048; ++k) {
      most = std::max(most, std::abs(x[k]));
      size += x[k] * x[k];
    }
    steps += 2048 * std::pow(most / 7, 2) / 6;
  }
  CHECK(relative_error(sent_through(int4_differences, x, {}), x) == Approx(std::sqrt(steps / size)).epsilon(0.01));
  CHECK(relative_error(sent_through(int4_differences, x, {}), x) == Approx(0.201).epsilon(0.08));
  CHECK(relative_error(sent_through(int4_groups, x, {}), x) == Approx(0.162).epsilon(0.03));
  CHECK(relative_error(sent_through(int8_groups, x, {}), x) == Approx(0.0091).epsilon(0.03));
  const auto tails = heavy_tailed(1 << 17, 2);
  CHECK(relative_error(sent_through(int4_groups, tails, {}), tails) == Approx(0.29).epsilon(0.06));
  auto spread = tails;
  hadamard32(spread);
  auto back = sent_through(int4_groups, spread, {});
  inverse_hadamard32(back);
  CHECK(relative_error(back, tails) == Approx(0.114).epsilon(0.06));
  auto wider = tails;
  randomised_hadamard(wider);
  back = sent_through(int4_groups, wider, {});
  inverse_randomised_hadamard(back);
  CHECK(relative_error(back, tails) < 0.095);
}

TEST_CASE(
    "the randomised Hadamard transform halves the error of heavy-tailed gradients and costs nothing on normal ones") {
  for (bool heavy : {true, false}) {
    std::vector<Numbers> ranks;
    Numbers exact(1 << 15);
    for (std::uint64_t r = 0; r < 8; ++r) {
      ranks.push_back(heavy ? heavy_tailed(1 << 15, 10 + r) : normal_numbers(1 << 15, 10 + r));
      for (std::size_t k = 0; k < exact.size(); ++k) exact[k] += ranks.back()[k];
    }
    const double plain = relative_error(two_levels(ranks, false), exact),
                 transformed = relative_error(two_levels(ranks, true), exact);
    INFO("plain " << plain << ", transformed " << transformed);
    if (heavy) CHECK(kurtosis(ranks[0]) > 30);
    if (heavy)
      CHECK(transformed < 0.5 * plain);
    else
      CHECK(transformed < 1.05 * plain);
  }
}

TEST_CASE("weights sent as differences follow the owner's; sent themselves they do not") {
  const std::int64_t n = 8192;
  auto owner = normal_numbers(n, 40);
  for (float& w : owner) w *= 0.02f;
  Numbers model(owner.size()), direct;
  for (std::int64_t k = 0; k < n; ++k) model[k] = from_bfloat16(to_bfloat16(owner[k]));
  double update = 0, difference_error = 0, direct_error = 0;
  for (std::uint64_t step = 0; step < 50; ++step) {
    const auto change = normal_numbers(n, 100 + step);
    Numbers difference(owner.size());
    for (std::int64_t k = 0; k < n; ++k) {
      owner[k] += 3e-4f * change[k];
      difference[k] = owner[k] - model[k];
    }
    std::vector<std::byte> message(int4_differences.bytes(n));
    encode_groups(int4_differences, difference, {3, 0, step, 0}, message);
    add_groups(int4_differences, message, model);
    direct = sent_through(int4_differences, owner, {3, 0, step, 0});
    update = difference_error = direct_error = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      update += std::pow(3e-4 * change[k], 2);
      difference_error += std::pow(double(owner[k]) - model[k], 2);
      direct_error += std::pow(double(owner[k]) - direct[k], 2);
    }
  }
  // What one step leaves is in the next step's difference: the error stays below one update and does not grow.
  CHECK(std::sqrt(difference_error / update) < 0.35);
  CHECK(std::sqrt(direct_error / update) > 10);
}
