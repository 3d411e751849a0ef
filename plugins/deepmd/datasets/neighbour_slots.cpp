#include "plugins/deepmd/datasets/neighbour_slots.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/deepmd/datasets/sample.hpp"
#include "plugins/deepmd/datasets/statistics.hpp"

namespace cambium::deepmd {

void for_own_samples(train::Dataset& data, const Comm& comm, const std::function<void(const train::Sample&)>& use) {
  constexpr std::int64_t at_once = 16;  // at least: neighbours are read together
  io::on_every_rank(comm, [&] {
    std::int64_t id = data.size() * comm.rank() / comm.size();
    const std::int64_t end = data.size() * (comm.rank() + 1) / comm.size();
    while (id < end) {
      std::vector<std::int64_t> ids(
          static_cast<std::size_t>(std::min(end, std::max(id + at_once, data.chunk_of(id).second)) - id));
      std::iota(ids.begin(), ids.end(), id);
      for (const auto& sample : data.read(ids)) use(*sample);
      id += std::ssize(ids);
    }
  });
}

std::vector<std::string> species_of_data(train::Dataset& data, const Comm& comm) {
  std::vector<std::string> own;
  for_own_samples(data, comm, [&](const train::Sample& sample) {
    for (const std::string& symbol : species_of(sample))
      if (std::find(own.begin(), own.end(), symbol) == own.end()) own.push_back(symbol);
  });
  // Ranks have samples in their order: the lowest one with a new symbol is next.
  std::vector<std::string> out;
  const auto is_new = [&](const std::string& symbol) { return std::find(out.begin(), out.end(), symbol) == out.end(); };
  for (;;) {
    const bool has = std::any_of(own.begin(), own.end(), is_new);
    const auto next = static_cast<int>(comm.min(static_cast<double>(has ? comm.rank() : comm.size())));
    if (next == comm.size()) return out;
    std::string text = fmt::format("{}", fmt::join(own, " "));
    comm.broadcast(text, next);
    for (const auto word : io::split(text))
      if (const std::string symbol(word); is_new(symbol)) out.push_back(symbol);
  }
}

std::vector<int> most_neighbours(train::Dataset& data, const std::vector<std::string>& type_map, double rcut,
                                 const Comm& comm, bool together) {
  std::vector<int> most(together ? 1 : type_map.size(), 0), own(most.size());
  const auto count = [&](const TrainingFrame& frame) {
    for (std::size_t i = 0; i < frame.type.size(); ++i) {
      std::fill(own.begin(), own.end(), 0);
      for (int k = frame.first[i]; k < frame.first[i + 1]; ++k) ++own[together ? 0 : frame.type[frame.neighbour[k]]];
      for (std::size_t t = 0; t < own.size(); ++t) most[t] = std::max(most[t], own[t]);
    }
  };
  for_own_samples(data, comm, [&](const train::Sample& sample) { count(frame_of(sample, type_map, rcut)); });
  for (int& n : most) n = comm.max(n);
  return most;
}

std::vector<int> settle_sel(const std::optional<std::vector<int>>& given, const std::vector<int>& most,
                            const std::vector<std::string>& type_map, SelShort short_sel, Log& log) {
  const std::vector<int> automatic = automatic_sel(most);
  if (!given) return automatic;
  if (given->size() != type_map.size())
    throw KeyError(
        "deep_potential.sel.count", "sel",
        fmt::format("sel has {} value(s), but the species are {}", given->size(), fmt::join(type_map, ", ")));
  std::vector<int> out = *given;
  for (std::size_t t = 0; t < out.size(); ++t)
    if (out[t] < most[t]) out[t] = automatic[t];
  if (out == *given) return out;
  const std::string found = fmt::format(
      "sel [{}] is less than the most neighbours of an atom of the training data, [{}] ({}), and DeePMD-kit drops the "
      "farthest of them",
      fmt::join(*given, ", "), fmt::join(most, ", "), fmt::join(type_map, " "));
  if (short_sel == SelShort::refuse)
    throw KeyError("deep_potential.sel.short", "sel",
                   fmt::format("{}: give sel: [{}], or leave it out (sel_short: raise does so by itself)", found,
                               fmt::join(out, ", ")));
  log.warn(fmt::format("{}: it is raised to [{}] (sel_short: refuse stops instead)", found, fmt::join(out, ", ")));
  return out;
}

int settle_total(const std::optional<std::vector<int>>& given, const std::vector<int>& most, SelShort short_sel,
                 Log& log) {
  std::optional<std::vector<int>> total;
  if (given) total.emplace(1, std::accumulate(given->begin(), given->end(), 0));
  return settle_sel(total, most, {"all species"}, short_sel, log).front();
}

namespace {
/// Slots in the layout of `most`: by type, or one value for all types.
std::vector<int> slots_of(const DeepPotentialModel& m, const std::vector<int>& most) {
  return most.size() == 1 ? std::vector<int>{m.neighbours()} : m.sel;
}
}  // namespace

bool exceeds_sel(const DeepPotentialModel& m, const std::vector<int>& most) {
  const std::vector<int> slots = slots_of(m, most);
  for (std::size_t t = 0; t < most.size(); ++t)
    if (most[t] > slots[t]) return true;
  return false;
}

std::string about_sel(const DeepPotentialModel& m, const std::vector<int>& found) {
  if (found.empty()) return {};
  const std::string sel = fmt::format("{}", fmt::join(slots_of(m, found), ", ")),
                    most = fmt::format("{}", fmt::join(found, ", "));
  if (exceeds_sel(m, found))
    return fmt::format(
        "the model's sel [{}] is less than the most neighbours of an atom of the training data, [{}] ({}): DeePMD-kit "
        "drops the farthest of them and computes other energies than Cambium; for the same energies in both train "
        "again, without init and sel",
        sel, most, fmt::join(m.type_map, " "));
  return fmt::format(
      "sel [{}] holds the most neighbours of an atom of the training data, [{}] ({}); where an atom has more than sel, "
      "DeePMD-kit drops the farthest, Cambium none",
      sel, most, fmt::join(m.type_map, " "));
}

}  // namespace cambium::deepmd
