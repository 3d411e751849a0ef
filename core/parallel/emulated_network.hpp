#pragma once
#include <mpi.h>

#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

namespace cambium {

/// What a message of n bytes takes: latency + n / bandwidth.
struct NetworkSpeed {
  double latency = 0.0;                                        ///< s
  double bandwidth = std::numeric_limits<double>::infinity();  ///< B/s
};

/// "5 us, 2 GB/s"; bare numbers are seconds and bytes per second. InputError when it is neither.
NetworkSpeed network_speed(const std::string& text);

/// Time of messages by that speed, for the thread that calls MPI. Receives and collectives take it; sends are free, as
/// with a network card that sends by itself.
///   receive     arrival + latency + bytes/bandwidth, one after the other through the link of this rank. A message that
///               lies there when it is first looked for counts from the moment its receive was posted.
///   collective  as by a tree over its ranks (cost_of...), from the moment it is done on the machine at hand; one that
///   is
///               done when it is first looked for, from the moment it was begun.
class EmulatedNetwork {
 public:
  explicit EmulatedNetwork(NetworkSpeed speed) : speed_(speed) {}

  void post_receive(MPI_Request request, MPI_Datatype type, MPI_Comm comm);
  void post_collective(MPI_Request request, double cost);
  /// A receive that is begun again and again; each Start posts it.
  void remember(MPI_Request request, MPI_Datatype type, MPI_Comm comm) { persistent_[request] = {type, comm}; }
  void start(MPI_Request request);
  void forget(MPI_Request request);

  /// Whether a request may be seen as complete; drives MPI.
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
    int self = -1;  ///< own rank, whose messages to itself are free
    double cost = 0.0, since = 0.0;
    bool looked = false;
    double ready = -1.0;  ///< s; negative while it has not arrived
  };
  struct Persistent {
    MPI_Datatype type;
    MPI_Comm comm;
  };
  double through_link(double arrived, double bytes);

  NetworkSpeed speed_;
  double link_free_ = 0.0;  ///< s at which the last message has passed the link
  std::unordered_map<MPI_Request, Pending> pending_;
  std::unordered_map<MPI_Request, Persistent> persistent_;
};

/// That of CAMBIUM_NETWORK; null without it, which is the usual case, and where the variable cannot be read.
EmulatedNetwork* emulated_network();

/// InputError when CAMBIUM_NETWORK is set to what is no network.
void require_readable_network();

/// For tests: another network, or none, from now on. No request may be open.
void set_emulated_network(std::optional<NetworkSpeed> speed);

}  // namespace cambium
