#include "plugins/podlstm/search/messages.hpp"

#include <chrono>
#include <thread>

#include "core/base/timing.hpp"

namespace cambium::podlstm {

namespace {

constexpr int job_tag = 11, outcome_tag = 12, sign_tag = 13;

std::vector<double> receive(MPI_Status& status, const Comm& comm) {
  int n = 0;
  MPI_Get_count(&status, MPI_DOUBLE, &n);
  std::vector<double> out(static_cast<std::size_t>(n));
  MPI_Recv(out.data(), n, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, comm.handle(), MPI_STATUS_IGNORE);
  return out;
}

void send(const std::vector<double>& m, int to, int tag, const Comm& comm) {
  MPI_Send(m.data(), static_cast<int>(m.size()), MPI_DOUBLE, to, tag, comm.handle());
}

}  // namespace

void send_job(const Job& job, int worker, const Comm& comm) {
  std::vector<double> m = {static_cast<double>(job.number), static_cast<double>(job.attempt),
                           static_cast<double>(job.genome.size())};
  m.insert(m.end(), job.genome.begin(), job.genome.end());
  m.insert(m.end(), job.thresholds.begin(), job.thresholds.end());
  send(m, worker, job_tag, comm);
}

std::optional<Job> receive_job(const Comm& comm, double limit) {
  MPI_Status status;
  const double begin = wall_seconds();
  for (int there = 0; !there; std::this_thread::sleep_for(std::chrono::microseconds(there ? 0 : 200))) {
    MPI_Iprobe(0, job_tag, comm.handle(), &there, &status);
    if (!there && limit > 0.0 && wall_seconds() - begin > limit) return {};
  }
  const auto m = receive(status, comm);
  Job job{static_cast<std::int64_t>(m[0]), static_cast<std::int32_t>(m[1]), {}, {}};
  const auto middle = m.begin() + 3 + static_cast<std::ptrdiff_t>(m[2]);
  for (auto x = m.begin() + 3; x != middle; ++x) job.genome.push_back(static_cast<int>(*x));
  job.thresholds.assign(middle, m.end());
  return job;
}

void send_outcome(std::int64_t number, std::int32_t attempt, const Outcome& o, const Comm& comm) {
  std::vector<double> m = {static_cast<double>(number),
                           static_cast<double>(attempt),
                           o.reward,
                           o.seconds,
                           static_cast<double>(o.best_epoch),
                           static_cast<double>(o.epochs),
                           o.failed ? 1.0 : 0.0};
  m.insert(m.end(), o.rungs.begin(), o.rungs.end());
  send(m, 0, outcome_tag, comm);
}

std::optional<Sender> receive_outcome(Outcome& outcome, const Comm& comm) {
  MPI_Status status;
  int there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, outcome_tag, comm.handle(), &there, &status);
  if (!there) return {};
  const auto m = receive(status, comm);
  outcome = {m[2],
             m[3],
             static_cast<std::int32_t>(m[4]),
             static_cast<std::int32_t>(m[5]),
             m[6] != 0.0,
             {m.begin() + 7, m.end()}};
  return Sender{status.MPI_SOURCE, static_cast<std::int64_t>(m[0]), static_cast<std::int32_t>(m[1])};
}

void send_sign(const Job& job, const Comm& comm) {
  send({static_cast<double>(job.number), static_cast<double>(job.attempt)}, 0, sign_tag, comm);
}

std::optional<Sender> receive_sign(const Comm& comm) {
  MPI_Status status;
  int there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, sign_tag, comm.handle(), &there, &status);
  if (!there) return {};
  const auto m = receive(status, comm);
  return Sender{status.MPI_SOURCE, static_cast<std::int64_t>(m[0]), static_cast<std::int32_t>(m[1])};
}

}  // namespace cambium::podlstm
