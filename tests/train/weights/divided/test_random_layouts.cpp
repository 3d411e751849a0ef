// Fifty trainings whose division among ranks, parts of batches, messages and optimizers are drawn at random, each
// against the same deck on one rank with everything whole. Layout k is a function of k alone; each number of ranks runs
// those that were drawn for it.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// The same mathematics, but what it is about to use is not said: weights and gradients cannot be divided.
class SilentMlp : public Mlp {
 public:
  using Mlp::Mlp;
  std::vector<int> modules() const override { return {}; }
};

/// Draws of one layout, one after the other.
class Draw {
 public:
  explicit Draw(std::uint64_t layout) : layout_(layout) {}
  int below(int n) {
    return static_cast<int>(Random4(2026, Stream::test, layout_, next_++).bits[0] % static_cast<std::uint32_t>(n));
  }
  bool coin() { return below(2) == 1; }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int>(list.size()))];
  }

 private:
  std::uint64_t layout_, next_ = 0;
};

const char* word(bool yes) { return yes ? "true" : "false"; }

/// Keys of the stage `train`: those that every division must give the same weights for, and the division.
struct Layout {
  int ranks = 1;
  bool in_flight = false;  ///< a slice's last divided gradients travel while the next slice is computed
  std::string model, training, division;

  explicit Layout(std::uint64_t number) {
    Draw draw(number);
    ranks = draw.of({1, 2, 4});
    const bool modules = draw.below(5) > 0, ordered = draw.below(4) == 0, overlap = draw.below(4) > 0;
    const int accumulate = 1 + draw.below(5);
    model = modules ? "mlp" : "silent_mlp";
    const char* optimizer = draw.of({"adamw", "adam", "{type: sgd, momentum: 0.9}"});
    const char* clip = draw.of({"", "", ", clip: {norm: 0.3}", ", clip: {value: 0.02}"});
    training = fmt::format("batch: {}, optimizer: {}{}", 1 + draw.below(13), optimizer, clip);
    division =
        ordered ? fmt::format("reduce: {{mode: ordered, micro_batches: {}}}", draw.of({4, 8}))
                : fmt::format("gradient_accumulation_steps: {}, reduce: {{mode: fast, overlap: {}, bucket_size: {}}}",
                              accumulate, word(overlap), draw.of({200, 4000000}));
    const auto levels = levels_of(draw);
    const int states = 1 + draw.below(static_cast<int>(levels.size()));
    const int gradients = modules && draw.below(4) > 0 ? 1 + draw.below(states) : 0,
              weights = draw.below(gradients + 1);
    in_flight = !ordered && overlap && accumulate > 1 && gradients > 0;
    division += ", " + parallel(draw, levels, weights, gradients, states);
    if (draw.coin()) training += ", average: {decay: 0.9, start_step: 2}";
  }

  /// Levels whose product is the number of ranks.
  std::vector<int> levels_of(Draw& draw) const {
    if (ranks == 1) return {1};
    if (ranks == 2) return draw.of<std::vector<int>>({{2}, {1, 2}, {2, 1}});
    return draw.of<std::vector<int>>({{4}, {2, 2}, {2, 1, 2}, {1, 2, 2}, {2, 2, 1}});
  }

  static std::string parallel(Draw& draw, const std::vector<int>& levels, int weights, int gradients, int states) {
    std::string out;
    for (std::size_t k = 0; k < levels.size(); ++k)
      out += fmt::format("{}{{name: l{}, size: {}}}", k ? ", " : "", k + 1, levels[k]);
    const bool prefetch = draw.coin();  // one draw after the other: the order of arguments is the compiler's
    const int whole_below = draw.of({0, 10, 40, 1000});
    out = fmt::format("parallel: {{levels: [{}], prefetch: {}, persistence_threshold: {}", out, word(prefetch),
                      whole_below);
    if (weights) out += fmt::format(", weights: l{}", weights);
    if (gradients) out += fmt::format(", gradients: l{}", gradients);
    return out + fmt::format(", optimizer_states: l{}}}", states);
  }

  std::string deck(bool divided) const {
    return fmt::format(
        "{{network: {{type: {}, layers: [9, 6, 5], precision: float64}}, dataset: {{type: expression, samples: 30, "
        "box: "
        "{{a: [0, 1], b: [-1, 1]}}, target: {{u: sin(3*a)*b, v: a - b^2}}}}, steps: 5, learning_rate: {{type: "
        "constant, start: 0.01}}, {}{}{}}}",
        model, training, divided ? ", " : "", divided ? division : "");
  }
};

/// Weights after the stage `train` with these keys, in `folder`.
std::vector<double> trained(Comm& comm, const std::string& folder, const std::string& keys) {
  Registry registry;
  register_training(registry);
  registry.add<SilentMlp>("silent_mlp", "mlp that does not name its modules");
  Log log;
  Timing timing;
  if (comm.root()) std::filesystem::create_directories(folder);
  comm.barrier();
  Context context{comm, log, timing, &registry, 5, folder, "", "", nullptr, false, false};
  registry.make<Task>("train", deck::parse(keys, "test"), context)->run(context);
  comm.barrier();
  std::vector<double> out;
  const auto file = io::File::open(folder + "/model.h5");
  for (const auto& array : file.group("weights").list()) {
    const auto values = file.read<std::vector<double>>("weights/" + array);
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

}  // namespace

TEST_CASE("fifty layouts drawn at random give the weights of serial training") {
  Comm world, self(MPI_COMM_SELF);
  const SharedScratch scratch(world);
  double worst = 0.0;
  int tried = 0, in_flight = 0;
  for (std::uint64_t number = 1; number <= 50; ++number) {
    const Layout layout(number);
    if (layout.ranks != world.size()) continue;
    INFO("layout " << number << ": " << layout.deck(true));
    const auto divided = trained(world, scratch.file("divided" + std::to_string(number)), layout.deck(true));
    ++tried, in_flight += layout.in_flight ? 1 : 0;
    if (!world.root()) continue;
    const auto serial = trained(self, scratch.file("serial" + std::to_string(number)), layout.deck(false));
    REQUIRE(divided.size() == serial.size());
    double most = 0.0;
    for (std::size_t k = 0; k < serial.size(); ++k) most = std::max(most, std::abs(divided[k] - serial[k]));
    CHECK(most < 1e-11);
    worst = std::max(worst, most);
  }
  CHECK(tried >= 10);
  CHECK(in_flight >= 3);
  if (world.root())
    std::printf("%d of the layouts 1 to 50 on %d ranks: weights within %.1e\n", tried, world.size(), worst);
}
