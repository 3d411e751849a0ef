#include "core/parallel/farm/task_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <string>

#include "core/base/error.hpp"

namespace cambium::tasks {

namespace {

/// Readers of every task in one array: those of t from start[t] on.
struct Readers {
  std::vector<std::int64_t> start, reader;
};

Readers readers_of(const TaskGraph& graph, std::vector<std::int64_t>& missing) {
  const std::int64_t count = graph.size();
  Readers out{std::vector<std::int64_t>(static_cast<std::size_t>(count) + 1, 0), {}};
  std::vector<std::int64_t> inputs;
  missing.assign(count, 0);
  for (std::int64_t t = 0; t < count; ++t) {
    graph.inputs(t, inputs);
    missing[t] = std::ssize(inputs);
    for (const std::int64_t i : inputs) {
      if (i < 0 || i >= count)
        throw InputError(
            fmt::format("task {} reads the value of task {}, but there are tasks 0 to {} only", t, i, count - 1));
      ++out.start[static_cast<std::size_t>(i) + 1];
    }
  }
  std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
  out.reader.resize(out.start.back());
  auto place = out.start;
  for (std::int64_t t = 0; t < count; ++t) {
    graph.inputs(t, inputs);
    for (const std::int64_t i : inputs) out.reader[place[i]++] = t;
  }
  return out;
}

/// Tasks that never become ready each have an input that does not either: following these leads around the cycle.
std::string way_around(const TaskGraph& graph, const std::vector<std::int64_t>& missing) {
  const auto waits = [&](std::int64_t t) { return missing[t] > 0; };
  std::int64_t at = 0;
  while (!waits(at)) ++at;
  std::vector<std::int64_t> way, inputs;
  for (;;) {
    const auto seen = std::find(way.begin(), way.end(), at) - way.begin();
    const bool around = seen < std::ssize(way);
    way.push_back(at);
    if (around) {
      way.erase(way.begin(), way.begin() + seen);
      break;
    }
    graph.inputs(at, inputs);
    at = *std::find_if(inputs.begin(), inputs.end(), waits);
  }
  return fmt::format("{} waits for {}", way.front(), fmt::join(way.begin() + 1, way.end(), ", which waits for "));
}

}  // namespace

std::vector<std::int64_t> order_of(const TaskGraph& graph) {
  std::vector<std::int64_t> missing, out;
  const Readers readers = readers_of(graph, missing);
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> ready;
  for (std::int64_t t = 0; t < graph.size(); ++t)
    if (missing[t] == 0) ready.push(t);
  while (!ready.empty()) {
    const std::int64_t t = ready.top();
    ready.pop();
    out.push_back(t);
    for (auto k = readers.start[t]; k < readers.start[static_cast<std::size_t>(t) + 1]; ++k) {
      const std::int64_t reader = readers.reader[k];
      if (--missing[reader] == 0) ready.push(reader);
    }
  }
  if (std::ssize(out) < graph.size())
    throw InputError(fmt::format("tasks wait for each other and none could begin: task {}; remove one of these inputs",
                                 way_around(graph, missing)));
  return out;
}

std::vector<int> deal(const TaskGraph& graph, int ranks) {
  const std::int64_t count = graph.size();
  std::vector<int> out(count, -1);
  std::vector<double> load(ranks, 0.0);
  std::vector<std::int64_t> homeless;
  for (std::int64_t t = 0; t < count; ++t) {
    const int home = graph.home(t, ranks);
    if (home >= ranks)
      throw InputError(
          fmt::format("task {} has its home on rank {}, but there are ranks 0 to {} only", t, home, ranks - 1));
    if (home < 0) {
      homeless.push_back(t);
      continue;
    }
    out[t] = home;
    load[home] += graph.cost(t);
  }
  std::stable_sort(homeless.begin(), homeless.end(),
                   [&](std::int64_t a, std::int64_t b) { return graph.cost(a) > graph.cost(b); });
  for (const std::int64_t t : homeless) {
    const auto least = std::min_element(load.begin(), load.end());
    out[t] = static_cast<int>(least - load.begin());
    *least += graph.cost(t);
  }
  return out;
}

std::vector<std::vector<std::byte>> run_serially(const TaskGraph& graph) {
  std::vector<std::vector<std::byte>> values(graph.size());
  std::vector<std::int64_t> numbers;
  std::vector<Input> inputs;
  for (const std::int64_t t : order_of(graph)) {
    graph.inputs(t, numbers);
    inputs.clear();
    for (const std::int64_t i : numbers) inputs.emplace_back(values[i]);
    auto& value = values[t];
    value.resize(graph.output_bytes(t));
    graph.run(t, inputs, value);
  }
  return values;
}

}  // namespace cambium::tasks
