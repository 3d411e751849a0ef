#include "core/parallel/emulated_network.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/timing.hpp"
#include "core/base/units.hpp"

namespace cambium {

namespace {

/// A number with a unit, or a bare one.
std::optional<double> quantity(std::string text, const char* unit) {
  const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  if (first == std::string::npos) return {};
  text = text.substr(first, last + 1 - first);
  if (const auto bare = parse_number(text)) return bare;
  const auto digits = text.find_last_of("0123456789.");
  if (digits == std::string::npos) return {};
  const auto value = parse_number(text.substr(0, digits + 1));
  std::string name = text.substr(digits + 1);
  name.erase(0, name.find_first_not_of(' '));
  if (!value || !parse_unit(name) || !(parse_unit(name)->dimension == unit_of(unit).dimension)) return {};
  return convert(*value, name, unit);
}

/// A latency and a bandwidth; before them "N ranks:", but in the last level.
std::optional<NetworkLevel> level_from(const std::string& text, bool last) {
  NetworkLevel level;
  const auto colon = text.find(':');
  if ((colon == std::string::npos) != last) return {};
  if (last) {
    level.ranks = 0;  // a multiple of any block
  } else {
    const std::string_view ranks = trim(std::string_view(text).substr(0, colon));
    constexpr std::string_view unit = "ranks";
    if (!ranks.ends_with(unit)) return {};
    const auto number = parse_number(std::string(trim(ranks.substr(0, ranks.size() - unit.size()))));
    if (!number || *number < 2.0 || *number > 1e9 || *number != std::floor(*number)) return {};
    level.ranks = static_cast<int>(*number);
  }
  const std::string links = last ? text : text.substr(colon + 1);
  const auto comma = links.find(',');
  if (comma == std::string::npos) return {};
  const auto latency = quantity(links.substr(0, comma), "s"), bandwidth = quantity(links.substr(comma + 1), "B/s");
  if (!latency || *latency < 0.0 || !bandwidth || *bandwidth <= 0.0) return {};
  level.speed = {*latency, *bandwidth};
  return level;
}

/// Ranks of the run that are ranks `of` in a communicator.
std::vector<int> in_the_run(MPI_Comm comm, std::vector<int> of) {
  MPI_Group own, all;
  PMPI_Comm_group(comm, &own);
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  std::vector<int> out(of.size());
  PMPI_Group_translate_ranks(own, static_cast<int>(of.size()), of.data(), all, out.data());
  PMPI_Group_free(&own);
  PMPI_Group_free(&all);
  return out;
}

double size_of(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

/// Rounds of a tree over this many ranks.
double rounds(double ranks) { return std::bit_width(static_cast<unsigned>(ranks) - 1u); }

std::unique_ptr<EmulatedNetwork>& network() {
  static std::unique_ptr<EmulatedNetwork> one = [] {
    const char* text = std::getenv("CAMBIUM_NETWORK");
    try {
      return text && *text ? std::make_unique<EmulatedNetwork>(network_levels(text)) : nullptr;
    } catch (const InputError&) {
      return std::unique_ptr<EmulatedNetwork>();  // require_readable_network() reports it
    }
  }();
  return one;
}

}  // namespace

std::vector<NetworkLevel> network_levels(const std::string& text) {
  std::vector<NetworkLevel> out;
  int within = 1;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(';', at), text.size());
    const auto level = level_from(text.substr(at, end - at), end == text.size());
    if (!level || level->ranks % within != 0)
      throw InputError(fmt::format(
          "CAMBIUM_NETWORK is '{}', expected a latency and a bandwidth, such as '5 us, 2 GB/s', or levels from "
          "inside to outside, such as '4 ranks: 1 us, 50 GB/s; 20 us, 2 GB/s', each a multiple of the one "
          "before; or unset it",
          text));
    out.push_back(*level);
    within = level->ranks;
    at = end + 1;
  }
  out.back().ranks = std::numeric_limits<int>::max();
  return out;
}

EmulatedNetwork* emulated_network() { return network().get(); }

void set_emulated_network(std::vector<NetworkLevel> levels) {
  network() = levels.empty() ? nullptr : std::make_unique<EmulatedNetwork>(std::move(levels));
}

void require_readable_network() {
  if (const char* text = std::getenv("CAMBIUM_NETWORK"); text && *text) network_levels(text);
}

void EmulatedNetwork::post_receive(MPI_Request request, MPI_Datatype type, MPI_Comm comm) {
  Pending p;
  p.type = type;
  p.comm = comm;
  p.since = wall_seconds();
  PMPI_Comm_rank(comm, &p.self);
  pending_[request] = p;
}

void EmulatedNetwork::post_collective(MPI_Request request, double cost) {
  Pending p;
  p.receive = false;
  p.cost = cost;
  p.since = wall_seconds();
  pending_[request] = p;
}

void EmulatedNetwork::start(MPI_Request request) {
  const auto found = persistent_.find(request);
  if (found != persistent_.end()) post_receive(request, found->second.type, found->second.comm);
}

void EmulatedNetwork::forget(MPI_Request request) {
  persistent_.erase(request);
  pending_.erase(request);
}

/// When the last byte of a message is here.
double EmulatedNetwork::through_link(std::size_t level, double arrived, double bytes) {
  const auto& speed = levels_[level].speed;
  link_free_[level] = std::max(arrived + speed.latency, link_free_[level]) + bytes / speed.bandwidth;
  return link_free_[level];
}

std::size_t EmulatedNetwork::level_of(int lowest, int highest) const {
  std::size_t level = 0;
  while (level + 1 < levels_.size() && lowest / levels_[level].ranks != highest / levels_[level].ranks) ++level;
  return level;
}

const NetworkSpeed& EmulatedNetwork::speed_among(MPI_Comm comm) const {
  if (levels_.size() == 1) return levels_[0].speed;
  std::vector<int> ranks(static_cast<std::size_t>(size_of(comm)));
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto of_run = in_the_run(comm, ranks);
  const auto [lowest, highest] = std::minmax_element(of_run.begin(), of_run.end());
  return levels_[level_of(*lowest, *highest)].speed;
}

bool EmulatedNetwork::complete(MPI_Request request) {
  const auto found = pending_.find(request);
  if (found != pending_.end() && found->second.ready >= 0.0) return wall_seconds() >= found->second.ready;
  int here = 0;
  MPI_Status status;
  PMPI_Request_get_status(request, &here, &status);
  if (found == pending_.end()) return here != 0;
  Pending& p = found->second;
  if (!here) {
    p.looked = true;
    return false;
  }
  const double now = wall_seconds(), arrived = p.looked ? now : p.since;
  if (p.receive) {
    int bytes = 0;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    int size = 0;
    if (bytes == MPI_UNDEFINED && PMPI_Get_count(&status, p.type, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED) {
      PMPI_Type_size(p.type, &size);
      bytes *= size;
    }
    if (status.MPI_SOURCE == p.self) {
      p.ready = now;
    } else {
      const auto ends = in_the_run(p.comm, {p.self, status.MPI_SOURCE});
      p.ready =
          through_link(level_of(std::min(ends[0], ends[1]), std::max(ends[0], ends[1])), arrived, std::max(bytes, 0));
    }
  } else {
    p.ready = arrived + p.cost;
  }
  return now >= p.ready;
}

void EmulatedNetwork::wait(int count, const MPI_Request* requests) {
  for (;;) {
    bool all = true;
    double next = 0.0;
    for (int k = 0; k < count; ++k) {
      if (complete(requests[k])) continue;
      all = false;
      const auto found = pending_.find(requests[k]);
      if (found == pending_.end() || found->second.ready < 0.0)
        next = -1.0;  // still to arrive: test again at once
      else if (next >= 0.0)
        next = std::max(next, found->second.ready);
    }
    if (all) return;
    if (next > 0.0)
      pass(next - wall_seconds());
    else
      sched_yield();
  }
}

void EmulatedNetwork::done(int count, const MPI_Request* requests) {
  for (int k = 0; k < count; ++k) pending_.erase(requests[k]);
}

/// Sleeps for long times, which frees the core; busy-waits for the last 0.1 ms.
void EmulatedNetwork::pass(double seconds) const {
  constexpr double slack = 1e-4;
  const double end = wall_seconds() + seconds;
  if (seconds > slack) std::this_thread::sleep_for(std::chrono::duration<double>(seconds - slack));
  while (wall_seconds() < end) sched_yield();
}

double EmulatedNetwork::barrier(MPI_Comm comm) const { return rounds(size_of(comm)) * speed_among(comm).latency; }

double EmulatedNetwork::scan(double bytes, MPI_Comm comm) const {
  const auto& speed = speed_among(comm);
  return rounds(size_of(comm)) * (speed.latency + bytes / speed.bandwidth);
}

/// The complete message down a tree, or scatter and all-gather.
double EmulatedNetwork::broadcast(double bytes, MPI_Comm comm) const {
  const auto& speed = speed_among(comm);
  const double ranks = size_of(comm), n = rounds(ranks), all = bytes / speed.bandwidth;
  return std::min(n * (speed.latency + all), (n + ranks - 1.0) * speed.latency + 2.0 * all * (ranks - 1.0) / ranks);
}

/// Recursive doubling of the complete message, or halving and doubling (Rabenseifner, ICCS 2004).
double EmulatedNetwork::all_reduce(double bytes, MPI_Comm comm) const {
  const auto& speed = speed_among(comm);
  const double ranks = size_of(comm), n = rounds(ranks), all = bytes / speed.bandwidth;
  return std::min(n * (speed.latency + all), 2.0 * n * speed.latency + 2.0 * all * (ranks - 1.0) / ranks);
}

double EmulatedNetwork::gather(double others, MPI_Comm comm) const {
  const auto& speed = speed_among(comm);
  return rounds(size_of(comm)) * speed.latency + others / speed.bandwidth;
}

/// Each other rank its own message, or halves of all in a tree's rounds (Bruck et al., IEEE TPDS 8, 1143, 1997).
double EmulatedNetwork::all_to_all(double others, MPI_Comm comm) const {
  const auto& speed = speed_among(comm);
  const double ranks = size_of(comm), n = rounds(ranks), all = others / speed.bandwidth;
  return std::min((ranks - 1.0) * speed.latency + all, n * (speed.latency + 0.5 * all));
}

}  // namespace cambium
