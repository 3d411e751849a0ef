#include "core/parallel/emulated_network.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
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

double size_of(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

/// Rounds of a tree over so many ranks.
double rounds(double ranks) { return std::bit_width(static_cast<unsigned>(ranks) - 1u); }

std::unique_ptr<EmulatedNetwork>& network() {
  static std::unique_ptr<EmulatedNetwork> one = [] {
    const char* text = std::getenv("CAMBIUM_NETWORK");
    try {
      return text && *text ? std::make_unique<EmulatedNetwork>(network_speed(text)) : nullptr;
    } catch (const InputError&) {
      return std::unique_ptr<EmulatedNetwork>();  // require_readable_network() tells it
    }
  }();
  return one;
}

}  // namespace

NetworkSpeed network_speed(const std::string& text) {
  const auto comma = text.find(',');
  const double none = -1.0, latency = quantity(text.substr(0, comma), "s").value_or(none),
               bandwidth = comma == std::string::npos ? none : quantity(text.substr(comma + 1), "B/s").value_or(none);
  if (latency < 0.0 || bandwidth <= 0.0)
    throw InputError(
        fmt::format("CAMBIUM_NETWORK is '{}', expected a latency and a bandwidth; for example CAMBIUM_NETWORK='5 us, 2 "
                    "GB/s', or unset it",
                    text));
  return {latency, bandwidth};
}

EmulatedNetwork* emulated_network() { return network().get(); }

void set_emulated_network(std::optional<NetworkSpeed> speed) {
  network() = speed ? std::make_unique<EmulatedNetwork>(*speed) : nullptr;
}

void require_readable_network() {
  if (const char* text = std::getenv("CAMBIUM_NETWORK"); text && *text) network_speed(text);
}

void EmulatedNetwork::post_receive(MPI_Request request, MPI_Datatype type, MPI_Comm comm) {
  Pending p;
  p.type = type;
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
double EmulatedNetwork::through_link(double arrived, double bytes) {
  link_free_ = std::max(arrived + speed_.latency, link_free_) + bytes / speed_.bandwidth;
  return link_free_;
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
    p.ready = status.MPI_SOURCE == p.self ? now : through_link(arrived, std::max(bytes, 0));
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
        next = -1.0;  // still to arrive: MPI is to be asked again at once
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

/// Long times leave the core to others; the last tenth of a millisecond is waited for in place.
void EmulatedNetwork::pass(double seconds) const {
  constexpr double slack = 1e-4;
  const double end = wall_seconds() + seconds;
  if (seconds > slack) std::this_thread::sleep_for(std::chrono::duration<double>(seconds - slack));
  while (wall_seconds() < end) sched_yield();
}

double EmulatedNetwork::barrier(MPI_Comm comm) const { return rounds(size_of(comm)) * speed_.latency; }

double EmulatedNetwork::scan(double bytes, MPI_Comm comm) const {
  return rounds(size_of(comm)) * (speed_.latency + bytes / speed_.bandwidth);
}

/// The whole down a tree, or pieces scattered and gathered again.
double EmulatedNetwork::broadcast(double bytes, MPI_Comm comm) const {
  const double ranks = size_of(comm), n = rounds(ranks), all = bytes / speed_.bandwidth;
  return std::min(n * (speed_.latency + all), (n + ranks - 1.0) * speed_.latency + 2.0 * all * (ranks - 1.0) / ranks);
}

/// Recursive doubling of the whole, or halving and doubling (Rabenseifner, ICCS 2004).
double EmulatedNetwork::all_reduce(double bytes, MPI_Comm comm) const {
  const double ranks = size_of(comm), n = rounds(ranks), all = bytes / speed_.bandwidth;
  return std::min(n * (speed_.latency + all), 2.0 * n * speed_.latency + 2.0 * all * (ranks - 1.0) / ranks);
}

double EmulatedNetwork::gather(double others, MPI_Comm comm) const {
  return rounds(size_of(comm)) * speed_.latency + others / speed_.bandwidth;
}

/// Each other rank its own message, or halves of all in a tree's rounds (Bruck et al., IEEE TPDS 8, 1143, 1997).
double EmulatedNetwork::all_to_all(double others, MPI_Comm comm) const {
  const double ranks = size_of(comm), n = rounds(ranks), all = others / speed_.bandwidth;
  return std::min((ranks - 1.0) * speed_.latency + all, n * (speed_.latency + 0.5 * all));
}

}  // namespace cambium
