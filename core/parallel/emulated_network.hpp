#pragma once
#include <mpi.h>

#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cambium {

/// Time of a message of n bytes: latency + n / bandwidth.
struct NetworkSpeed {
  double latency = 0.0;                                        ///< s
  double bandwidth = std::numeric_limits<double>::infinity();  ///< B/s
};

/// Links among ranks of one block of `ranks` consecutive ranks of the run, such as a node.
struct NetworkLevel {
  int ranks = std::numeric_limits<int>::max();
  NetworkSpeed speed;
};

/// "5 us, 2 GB/s", or levels, the innermost first: "2 ranks: 1 us, 50 GB/s; 8 ranks: 3 us, 10 GB/s; 20 us, 2 GB/s".
/// Bare numbers are seconds and bytes per second. The last level has no number of ranks: it contains all of them.
/// InputError for other text, and if a block is not a multiple of the block within it.
std::vector<NetworkLevel> network_levels(const std::string& text);

/// Emulates message times of that network, for the thread that calls MPI. Receives and collectives are delayed; sends
/// are free, as with an adapter that offloads them.
///   receive     arrival + latency + bytes/bandwidth, serialised over the link of this rank. A message that has arrived
///               at the first test counts from the time its receive was posted.
///   collective  as by a tree over its ranks (cost_of...), from its completion on the actual machine; from its start if
///               it is complete at the first test.
/// With levels a message takes the time of the innermost block that holds both ranks; a collective that of the
/// innermost block that holds all ranks of its communicator. A rank has a link of its own in every level.
class EmulatedNetwork {
 public:
  /// `levels`: as from network_levels(), at least one.
  explicit EmulatedNetwork(std::vector<NetworkLevel> levels)
      : levels_(std::move(levels)), link_free_(levels_.size(), 0.0) {}

  void post_receive(MPI_Request request, MPI_Datatype type, MPI_Comm comm);
  void post_collective(MPI_Request request, double cost);
  /// A persistent receive; each Start posts it.
  void remember(MPI_Request request, MPI_Datatype type, MPI_Comm comm) { persistent_[request] = {type, comm}; }
  void start(MPI_Request request);
  void forget(MPI_Request request);

  /// True if a request may be seen as complete; drives MPI.
  bool complete(MPI_Request request);
  /// Until all of them may be. They are then to be completed by MPI.
  void wait(int count, const MPI_Request* requests);
  /// The requests were completed.
  void done(int count, const MPI_Request* requests);
  /// Lets `seconds` pass.
  void pass(double seconds) const;

  // Seconds of collectives among the ranks of a communicator.
  double barrier(MPI_Comm comm) const;
  double broadcast(double bytes, MPI_Comm comm) const;
  double all_reduce(double bytes, MPI_Comm comm) const;
  double scan(double bytes, MPI_Comm comm) const;
  /// `others`: bytes that all other ranks give.
  double gather(double others, MPI_Comm comm) const;
  /// `others`: bytes for all other ranks.
  double all_to_all(double others, MPI_Comm comm) const;

 private:
  struct Pending {
    bool receive = true;
    MPI_Datatype type = MPI_BYTE;
    MPI_Comm comm = MPI_COMM_NULL;
    int self = -1;  ///< own rank, whose messages to itself are free
    double cost = 0.0, since = 0.0;
    bool looked = false;
    double ready = -1.0;  ///< s; negative until it has arrived
  };
  struct Persistent {
    MPI_Datatype type;
    MPI_Comm comm;
  };
  double through_link(std::size_t level, double arrived, double bytes);
  /// The innermost level whose block holds all these ranks of the run.
  std::size_t level_of(int lowest, int highest) const;
  const NetworkSpeed& speed_among(MPI_Comm comm) const;

  std::vector<NetworkLevel> levels_;
  std::vector<double> link_free_;  ///< by level: s at which the last message has passed the link
  std::unordered_map<MPI_Request, Pending> pending_;
  std::unordered_map<MPI_Request, Persistent> persistent_;
};

/// The network of CAMBIUM_NETWORK; null without it, which is the usual case, and if the variable is invalid.
EmulatedNetwork* emulated_network();

/// InputError if CAMBIUM_NETWORK is set but invalid.
void require_readable_network();

/// For tests: another network from now on, or none without a level. No request may be open.
void set_emulated_network(std::vector<NetworkLevel> levels);

}  // namespace cambium
