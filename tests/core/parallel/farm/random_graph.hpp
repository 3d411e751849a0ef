#pragma once
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "core/parallel/farm/task_graph.hpp"

namespace cambium::tasks::test {

/// Tasks that read some of those before them (under shuffled numbers); every byte of a value depends on all bytes read,
/// on their order and on the task's number.
class RandomGraph : public TaskGraph {
 public:
  RandomGraph(unsigned seed, int count, int most_inputs, int most_bytes, bool with_homes) : homes_(with_homes) {
    std::mt19937 engine(seed);
    const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine); };
    std::vector<std::int64_t> number(count);
    for (int k = 0; k < count; ++k) number[k] = k;
    std::shuffle(number.begin(), number.end(), engine);
    tasks_.resize(number.size());
    for (int k = 0; k < count; ++k) {
      Made& made = tasks_[number[k]];
      made.bytes = static_cast<std::size_t>(draw(1, 8) == 1 ? draw(0, most_bytes) : draw(0, 64));
      made.cost = draw(1, 100);
      made.home = draw(0, 1000);
      for (int i = k == 0 ? 0 : draw(0, most_inputs); i > 0; --i)  // some are read twice
        made.inputs.push_back(number[draw(std::max(0, k - 50), k - 1)]);
    }
  }

  std::int64_t size() const override { return std::ssize(tasks_); }
  void inputs(std::int64_t t, std::vector<std::int64_t>& out) const override { out = of(t).inputs; }
  std::size_t output_bytes(std::int64_t t) const override { return of(t).bytes; }
  double cost(std::int64_t t) const override { return of(t).cost; }
  int home(std::int64_t t, int ranks) const override { return homes_ ? of(t).home % ranks : -1; }
  void run(std::int64_t t, std::span<const Input> inputs, std::span<std::byte> output) const override {
    std::uint64_t hash = static_cast<std::uint64_t>(t) + 1;
    for (const Input& input : inputs) {
      for (const std::byte b : input) hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211ULL;
      hash += 7;
    }
    for (std::byte& b : output) b = static_cast<std::byte>((hash = hash * 6364136223846793005ULL + 1) >> 56);
  }

 private:
  struct Made {
    std::vector<std::int64_t> inputs;
    std::size_t bytes = 0;
    int cost = 1, home = 0;
  };
  const Made& of(std::int64_t t) const { return tasks_[t]; }
  std::vector<Made> tasks_;
  bool homes_;
};

/// Which tasks no other reads.
inline std::vector<bool> is_last(const TaskGraph& graph) {
  std::vector<bool> out(graph.size(), true);
  std::vector<std::int64_t> inputs;
  for (std::int64_t t = 0; t < graph.size(); ++t) {
    graph.inputs(t, inputs);
    for (const std::int64_t i : inputs) out[i] = false;
  }
  return out;
}

}  // namespace cambium::tasks::test
