// Trainings whose weights, gradients, states and samples lie in the memory of the kernels, against the plain way.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/random.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// Draws of one training, one after the other.
class Draw {
 public:
  explicit Draw(std::uint64_t number) : number_(number) {}
  int below(int n) {
    return static_cast<int>(Random4(2611, Stream::test, number_, next_++).bits[0] % static_cast<std::uint32_t>(n));
  }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int>(list.size()))];
  }

 private:
  std::uint64_t number_, next_ = 0;
};

/// A stage `train` with these keys beside its network and data.
struct Keys {
  std::string network = "layers: [9, 7]", precision = "float64", rest = "batch: 8, optimizer: adam";
  std::string target = "{u: sin(3*a)*b, v: a - b^2}";
  int steps = 15;
  double rate = 0.01;

  std::string deck(const char* compute) const {
    return fmt::format(
        "{{network: {{type: mlp, {}, precision: {}, compute: {}}}, dataset: {{type: expression, samples: 40, box: {{a: "
        "[0, 1], b: [-1, 1]}}, target: {}}}, steps: {}, learning_rate: {}, {}}}",
        network, precision, compute, target, steps, rate, rest);
  }
};

Keys drawn(std::uint64_t number) {
  Draw draw(number);
  Keys out;
  out.network = draw.of({"layers: [9, 7]", "layers: [33]", "layers: [5, 4, 6]", "layers: [8, 6], ranks: [0, 2, 0]"});
  out.network += fmt::format(", activation: {}", draw.of({"tanh", "relu", "sigmoid", "gelu", "silu"}));
  if (draw.below(4) == 0) {
    out.network += ", goal: classification, label_smoothing: 0.1";
    out.target = "{c: step(a - 0.5) + step(b)}";
  }
  const char* optimizer =
      draw.of({"adam", "{type: adam, weight_decay: 0.01}", "adamw", "{type: adamw, weight_decay: 0.2}", "sgd",
               "{type: sgd, momentum: 0.9}", "{type: sgd, momentum: 0.8, nesterov: true, weight_decay: 0.05}"});
  const char* clip =
      draw.of({"", "", ", clip: {norm: 0.05}", ", clip: {value: 0.01}", ", clip: {norm: 0.03, value: 0.02}"});
  const char* average = draw.of({"", "", ", average: {decay: 0.8}", ", average: {decay: 0.6, start_step: 6}"});
  out.rest = fmt::format("batch: {}, gradient_accumulation_steps: {}, optimizer: {}{}{}, log: {}",
                         draw.of({1, 7, 8, 13, 32}), 1 + draw.below(3), optimizer, clip, average, draw.of({1, 4, 100}));
  out.rest += draw.of({"", "", ", loader: {type: buffered}"});
  out.rest += draw.of({"", "", ", hold_out: 0.2, validate: {every: 4}"});
  out.rest += draw.of({"", ", reduce: {overlap: false}", ", reduce: {shared_memory: false, bucket_size: 200}"});
  out.steps = 12 + draw.below(12);
  return out;
}

struct Trained {
  std::vector<double> weights;
  std::string rows, page;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// The stage in `folder`; what it learned and said. Collective.
Trained trained(Comm& comm, const std::string& folder, const std::string& keys, bool resume = false) {
  Registry registry;
  register_training(registry);
  if (comm.root()) std::filesystem::create_directories(folder);
  comm.barrier();
  {
    Log log(nullptr, comm.root());
    log.tee(folder + "/page");
    Timing timing;
    Context context{comm, log, timing, &registry, 5, folder, "", "", nullptr, false, resume};
    registry.make<Task>("train", deck::parse(keys, "test"), context)->run(context);
  }
  comm.barrier();
  Trained out;
  const auto file = io::File::open(folder + "/model.h5");
  for (const auto& array : file.group("weights").list()) {
    const auto values = file.read<std::vector<double>>("weights/" + array);
    out.weights.insert(out.weights.end(), values.begin(), values.end());
  }
  out.rows = text_of(folder + "/training.csv");
  out.page = text_of(folder + "/page");
  comm.barrier();
  return out;
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return 1e300;
  double largest = 1e-300, change = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!std::isfinite(b[k])) return 1e300;
    largest = std::max(largest, std::abs(a[k]));
    change = std::max(change, std::abs(a[k] - b[k]));
  }
  return change / largest;
}

/// All numbers of a table after its first line.
std::vector<double> numbers_in(const std::string& table) {
  std::vector<double> out;
  std::istringstream lines(table);
  std::string line, number;
  for (bool first = true; std::getline(lines, line); first = false) {
    if (first || line.empty() || line[0] == '#') continue;
    std::istringstream numbers(line);
    while (std::getline(numbers, number, ',')) out.push_back(std::stod(number));
  }
  return out;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Copies of arrays that were begun, by their names.
std::map<std::string, int> copies;
void count_copy(Kokkos_Profiling_SpaceHandle, const char* to, const void*, Kokkos_Profiling_SpaceHandle,
                const char* from, const void*, std::uint64_t) {
  ++copies[*to ? to : from];
}

}  // namespace

TEST_CASE("trainings on the device give the weights and rows of the plain way: sixty drawn at random") {
  Comm world;
  const SharedScratch scratch(world);
  double worst = 0.0;
  int resident = 0, brought = 0;
  for (std::uint64_t number = 1; number <= 60; ++number) {
    const Keys keys = drawn(number);
    INFO("training " << number << ": " << keys.deck("kernels"));
    const auto here = trained(world, scratch.file(fmt::format("host{}", number)), keys.deck("host"));
    const auto there = trained(world, scratch.file(fmt::format("device{}", number)), keys.deck("kernels"));
    if (!world.root()) continue;
    CHECK(!holds(here.page, "in the memory of the kernels"));
    REQUIRE(holds(there.page, "weights, gradients and states are in the memory of the kernels"));
    (holds(there.page, "samples are, too") ? resident : brought) += 1;
    const double change = apart(here.weights, there.weights);
    CHECK(change < 1e-12);
    CHECK(apart(numbers_in(here.rows), numbers_in(there.rows)) < 1e-12);
    worst = std::max(worst, change);
  }
  if (world.root()) {
    CHECK(resident > 20);
    CHECK(brought > 10);
    fmt::print("largest difference of a weight: {:.2e} of the largest; {} with resident samples, {} without\n", worst,
               resident, brought);
  }
}

TEST_CASE("float32 and bfloat16 train on the device as on the host, to their precision") {
  Comm world;
  const SharedScratch scratch(world);
  for (const char* precision : {"float32", "bfloat16"})
    for (std::uint64_t number : {3, 4, 5, 6}) {
      Keys keys = drawn(number);
      keys.precision = precision;
      INFO(keys.deck("kernels"));
      const auto here = trained(world, scratch.file(fmt::format("host{}", number)), keys.deck("host"));
      const auto there = trained(world, scratch.file(fmt::format("device{}", number)), keys.deck("kernels"));
      if (world.root()) CHECK(apart(here.weights, there.weights) < (precision[0] == 'f' ? 2e-4 : 3e-2));
      world.barrier();
      if (world.root())
        for (const char* place : {"host", "device"})
          std::filesystem::remove_all(scratch.file(fmt::format("{}{}", place, number)));
      world.barrier();
    }
}

TEST_CASE("a training on the device goes on from a checkpoint bit for bit, also within a row of the log") {
  Comm world;
  const SharedScratch scratch(world);
  for (const char* more :
       {"optimizer: adamw, average: {decay: 0.8}", "optimizer: {type: sgd, momentum: 0.9}, clip: {norm: 0.03}",
        "optimizer: adam, hold_out: 0.2, validate: {every: 5}, loader: {type: buffered}"}) {
    Keys keys;
    keys.rest =
        fmt::format("batch: 9, gradient_accumulation_steps: 2, log: 10, checkpoint: {{every: 13, keep: 9}}, {}", more);
    INFO(more);
    keys.steps = 31;
    const auto whole = trained(world, scratch.file("whole"), keys.deck("kernels"));
    if (world.root()) {
      std::filesystem::copy(scratch.file("whole"), scratch.file("parts"), std::filesystem::copy_options::recursive);
      for (const auto& file : std::filesystem::directory_iterator(scratch.file("parts")))
        if (const auto name = file.path().filename().string(); name.starts_with("restart.") && name != "restart.13.h5")
          std::filesystem::remove(file.path());
    }
    world.barrier();
    const auto parts = trained(world, scratch.file("parts"), keys.deck("kernels"), true);
    if (world.root()) {
      REQUIRE(holds(parts.page, "resumed at step 13"));
      CHECK(whole.weights == parts.weights);
      CHECK(whole.rows == parts.rows);
      for (const char* place : {"whole", "parts"}) std::filesystem::remove_all(scratch.file(place));
    }
    world.barrier();
  }
}

TEST_CASE("in a step on the device nothing is copied: neither weights nor gradients, states, samples or losses") {
  Comm self(MPI_COMM_SELF);
  const SharedScratch scratch(self);
  namespace tools = Kokkos::Tools::Experimental;
  const auto before = tools::get_callbacks();
  tools::set_begin_deep_copy_callback(count_copy);
  std::map<std::string, int> counted[2];
  const int steps[2] = {20, 120};
  for (int k = 0; k < 2; ++k) {
    Keys keys;
    keys.rest = "batch: 8, optimizer: adamw, clip: {norm: 0.1}, average: {decay: 0.9}, log: 1000";
    keys.steps = steps[k];
    copies.clear();
    trained(self, scratch.file(fmt::format("{}", k)), keys.deck("kernels"));
    counted[k] = copies;
  }
  tools::set_callbacks(before);
  REQUIRE(counted[0]["samples of all steps"] == 1);
  REQUIRE(counted[0]["order of the samples"] == 4);
  for (const auto& [array, times] : counted[1]) {
    INFO(array);
    // A new order of the samples in each epoch, of five steps here.
    CHECK(times - counted[0][array] == (array == "order of the samples" ? 20 : 0));
  }
}

TEST_CASE("what cannot lie on the device says why, and trains as before") {
  Comm self(MPI_COMM_SELF);
  const SharedScratch scratch(self);
  const std::string said = "weights stay in host memory and pass to the kernels in each step: ";
  int number = 0;
  for (const auto& [more, why] : std::vector<std::pair<std::string, std::string>>{
           {"optimizer: lamb", "the optimizer lamb has no form for a device; adam, adamw and sgd have"},
           {"optimizer: adam, reduce: {mode: ordered}", "reduce.mode ordered adds micro-batches there"},
           {"optimizer: adam, parallel: {levels: [{name: all, size: 1}], optimizer_states: all}",
            "parallel shards them over ranks"}}) {
    Keys keys;
    keys.rest = "batch: 8, " + more;
    INFO(more);
    ++number;
    const auto here = trained(self, scratch.file(fmt::format("host{}", number)), keys.deck("host"));
    const auto there = trained(self, scratch.file(fmt::format("device{}", number)), keys.deck("kernels"));
    CHECK(holds(there.page, said + why));
    CHECK(!holds(here.page, said));
    CHECK(apart(here.weights, there.weights) < 1e-12);
  }
}

TEST_CASE(
    "a training that goes astray on the device ends with the words of the host and the step of which they are true") {
  Comm self(MPI_COMM_SELF);
  const SharedScratch scratch(self);
  Keys keys;
  keys.network += ", activation: relu";
  keys.rest = "batch: 8, optimizer: sgd, log: 1000";
  keys.steps = 60;
  keys.rate = 30.0;
  std::string said[2];
  for (const char* compute : {"host", "kernels"}) {
    try {
      trained(self, scratch.file(compute), keys.deck(compute));
    } catch (const NumericalError& error) {
      said[compute[0] == 'k'] = error.what();
    }
  }
  CHECK(holds(said[0], "training diverged at step "));
  CHECK(said[0] == said[1]);
}
