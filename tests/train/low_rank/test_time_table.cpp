// Times of candidates on a machine that is made up: what is chosen by them when it is quiet, when something else runs
// on it, and when single measurements are far off.
#include <algorithm>
#include <cmath>

#include "core/parallel/random.hpp"
#include "core/train/low_rank/baselines.hpp"
#include "core/train/low_rank/time_table.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// Products at a speed, calls at a cost; the load multiplies some stretches of passes.
struct Machine {
  CostTable table;
  double load = 0.0, floor = 2e-3;  // s that no layer takes
  std::uint64_t passes = 0;

  Machine() {
    for (int l = 0; l < 14; ++l) {
      FactorLayer layer;
      layer.name = "layer" + std::to_string(l);
      layer.inputs = l % 2 == 0 ? 32 : 64;
      layer.outputs = 64;
      layer.taps = l % 3 == 0 ? 1 : 27;
      layer.places = 100 + 300 * l;
      table.layers.push_back(layer);
      auto& list = table.candidates.emplace_back();
      for (const auto rank : candidate_ranks(layer, 8)) {
        const double left = rank == 0 ? 0.0 : 1.0 - static_cast<double>(rank) / 64.0;
        list.push_back({rank, 1e-3 * std::pow(left, 2) + (rank == 1 || rank == 4 ? 1.0 : 0.0)});
      }
    }
  }
  double of_layer(std::size_t l, std::int64_t rank) const {
    constexpr double speed = 1e11, call = 2e-5;
    return call * (rank > 0 ? 3 : 1) + static_cast<double>(table.layers[l].multiplications(rank)) / speed;
  }
  double seconds(std::span<const std::int64_t> ranks) const {
    double sum = floor;
    for (std::size_t l = 0; l < ranks.size(); ++l) sum += of_layer(l, ranks[l]);
    return sum;
  }
  double whole() const { return seconds(std::vector<std::int64_t>(table.layers.size(), 0)); }
  double seconds(const CostTable& of, const std::vector<std::size_t>& choice) const {
    return seconds(of.ranks(choice));
  }
  /// A pass: another program comes and goes for stretches of six passes, and what it takes is uneven.
  double pass(double undisturbed) {
    const Random4 here(5, Stream::test, passes, 1), stretch(5, Stream::test, passes / 6, 2);
    ++passes;
    const double busy = stretch.uniform(0) < 0.6 ? load * (0.5 + stretch.uniform(1)) : 0.0;
    return undisturbed * (1.0 + busy + 0.3 * load * here.uniform(0) + 2e-3 * here.uniform(1));
  }
  PassTimes time(std::span<const std::int64_t> ranks) {
    const double its = seconds(ranks), of_whole = whole();
    return pass_times([&] { return pass(of_whole); }, [&] { return pass(its); });
  }
  /// As it is, without any clock.
  CostTable exact() const {
    CostTable out = table;
    out.seconds = whole();
    for (std::size_t l = 0; l < out.candidates.size(); ++l)
      for (auto& candidate : out.candidates[l]) candidate.seconds = of_layer(l, candidate.rank) - of_layer(l, 0);
    return out;
  }
  double loss(const std::vector<std::size_t>& choice) const {
    double sum = 0.0;
    for (std::size_t l = 0; l < choice.size(); ++l) sum += table.candidates[l][choice[l]].loss;
    return sum;
  }
  double loss_by(const CostTable& times, double budget) const {
    const auto choice = choose_ranks(times.candidates, (budget - 1.0) * times.seconds);
    return choice.empty() ? 1e9 : loss(choice);
  }
};

}  // namespace

TEST_CASE("on a quiet machine times are those that were measured, and any ranks are predicted") {
  Machine machine;
  CostTable found = machine.table;
  Log log;
  measure_times(
      found, [&](auto ranks) { return machine.time(ranks); }, log);
  CHECK(log.warnings().empty());
  CHECK(found.seconds == Approx(machine.whole()).epsilon(0.01));
  for (std::uint64_t id = 0; id < 12; ++id) {
    std::vector<std::size_t> choice;
    for (std::size_t l = 0; l < found.layers.size(); ++l)
      choice.push_back(Random4(6, Stream::test, id, l).bits[0] % found.candidates[l].size());
    CHECK(found.predicted(choice) == Approx(machine.seconds(found, choice)).epsilon(0.05));
  }
  for (const double budget : {0.5, 0.6, 0.8})
    CHECK(machine.loss_by(found, budget) < 1.5 * machine.loss_by(machine.exact(), budget) + 1e-3);
}

TEST_CASE("something else on the machine changes what is chosen by little") {
  double off = 0.0, off_when_trusted = 0.0;
  for (const double load : {0.3, 0.6, 1.0})
    for (const double budget : {0.5, 0.6, 0.8}) {
      INFO("load " << load << ", budget " << budget);
      Machine machine, trusting;
      machine.load = trusting.load = load;
      CostTable found = machine.table, trusted = machine.table;
      Log log;
      measure_times(
          found, [&](auto ranks) { return machine.time(ranks); }, log);
      const double best = machine.loss_by(machine.exact(), budget), its = machine.loss_by(found, budget);
      CHECK(its < 4.0 * best + 2e-3);
      const auto choice = choose_ranks(found.candidates, (budget - 1.0) * found.seconds);
      REQUIRE_FALSE(choice.empty());
      CHECK(machine.seconds(found, choice) < 1.25 * budget * machine.whole());
      // A clock that is believed without its errors: one turn of each.
      const auto once = [&](std::span<const std::int64_t> ranks) {
        const double whole = trusting.pass(trusting.whole());
        return PassTimes{whole, trusting.pass(trusting.seconds(ranks)) / whole, 0.0};
      };
      measure_times(trusted, once, log);
      const auto other = choose_ranks(trusted.candidates, (budget - 1.0) * trusted.seconds);
      REQUIRE_FALSE(other.empty());
      off += std::abs(machine.seconds(found, choice) / machine.whole() / budget - 1.0);
      off_when_trusted += std::abs(machine.seconds(trusted, other) / machine.whole() / budget - 1.0);
    }
  CHECK(off_when_trusted > 1.5 * off);
}

TEST_CASE("a busy stretch while layers are timed together does not lead to the smallest ranks") {
  Machine machine;
  const auto exact = machine.exact();
  for (const double budget : {0.5, 0.6}) {
    CostTable found = machine.table;
    Log log;
    int disturbed = 4;  // networks of several products that seem to be as slow as the whole one, without any doubt
    const auto timer = [&](std::span<const std::int64_t> ranks) {
      auto out = machine.time(ranks);
      if (std::count(ranks.begin(), ranks.end(), 0) < std::ssize(ranks) - 1 && disturbed-- > 0) out.share = 1.05;
      return out;
    };
    measure_times(found, timer, log);
    CHECK(machine.loss_by(found, budget) < 2.0 * machine.loss_by(exact, budget));
    // All savings times 0.4 is what they were taken for: one rank of each kind that loses all, or none at all.
    CostTable trusting = exact;
    for (auto& list : trusting.candidates)
      for (auto& candidate : list) candidate.seconds *= 0.4;
    CHECK(machine.loss_by(trusting, budget) > 100.0 * machine.loss_by(exact, budget));
  }
}

TEST_CASE("layers that cannot be timed together are taken for what they save alone, which is said") {
  Machine machine;
  CostTable found = machine.table;
  Log log;
  const auto timer = [&](std::span<const std::int64_t> ranks) {
    auto out = machine.time(ranks);
    if (std::count(ranks.begin(), ranks.end(), 0) < std::ssize(ranks) - 1) out.share = 1.05;
    return out;
  };
  measure_times(found, timer, log);
  REQUIRE(log.warnings().size() == 1);
  CHECK(log.warnings()[0].text ==
        "what layers save together could not be timed, so it is taken for what they save alone; measure again on a "
        "quiet machine");
}

TEST_CASE("a time that contradicts the multiplications is measured again, and not believed when it stays") {
  for (const int disturbed : {1, 3}) {
    Machine machine;
    int times = 0;
    CostTable found = machine.table;
    Log log;
    // The smallest rank of one layer of some hundredths of the multiplications seems to save most of the time.
    const auto rank = found.candidates[4][0].rank;
    const auto timer = [&](std::span<const std::int64_t> ranks) {
      auto out = machine.time(ranks);
      bool alone = ranks[4] == rank;
      for (std::size_t l = 0; l < ranks.size(); ++l) alone = alone && (l == 4 || ranks[l] == 0);
      if (alone && times++ < disturbed) {
        out.share = 0.3;
        out.error = 0.0;
      }
      return out;
    };
    measure_times(found, timer, log);
    CHECK(times == (disturbed == 1 ? 2 : 3));
    const auto exact = machine.exact();
    CHECK(found.candidates[4][0].seconds == Approx(exact.candidates[4][0].seconds).epsilon(disturbed == 1 ? 0.1 : 0.4));
    if (disturbed == 1) {
      CHECK(log.warnings().empty());
    } else {
      REQUIRE(log.warnings().size() == 1);
      CHECK(log.warnings()[0].text ==
            "layer layer4 with rank " + std::to_string(rank) +
                " saved 0.7 of the time of a pass, though it has 0.0409 of the multiplications: its time is taken from "
                "these; measure again on a quiet machine");
    }
    CHECK(machine.loss_by(found, 0.6) < 2.0 * machine.loss_by(exact, 0.6) + 1e-3);
  }
}

TEST_CASE("savings are corrected by one measured choice") {
  Machine machine;
  auto table = machine.exact();
  std::vector<std::size_t> smallest(table.layers.size(), 0);
  const double before = table.predicted(smallest);
  const double measured = before + 0.2 * (table.seconds - before);
  correct_times(table, smallest, measured);
  CHECK(table.predicted(smallest) == Approx(measured));
  // A pass that something else made as long as the whole network's takes three tenths of the savings, and no more.
  auto again = machine.exact();
  correct_times(again, smallest, 1.2 * again.seconds);
  CHECK(again.seconds - again.predicted(smallest) == Approx(0.7 * (again.seconds - before)));
}
