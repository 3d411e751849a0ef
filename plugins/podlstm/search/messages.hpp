#pragma once
#include <optional>

#include "core/parallel/comm.hpp"
#include "plugins/podlstm/search/search.hpp"

namespace cambium::podlstm {

/// Jobs and outcomes between rank 0 and the others. Nobody spins: waiting ranks look every 0.2 ms.
void send_job(const Job& job, int worker, const Comm& comm);
/// Waits for the next job, for at most `limit` seconds when that is positive; nothing when none came.
std::optional<Job> receive_job(const Comm& comm, double limit = 0.0);
/// Number of a job that is none: rank 0 lives and has nothing to do.
constexpr std::int64_t no_job_yet = -2;

/// Who says something about which attempt at which trial.
struct Sender {
  int worker;
  std::int64_t number;
  std::int32_t attempt;
};
/// `number` -1 with an empty outcome: ready for work.
void send_outcome(std::int64_t number, std::int32_t attempt, const Outcome& outcome, const Comm& comm);
/// A sign of life from within an evaluation.
void send_sign(const Job& job, const Comm& comm);
std::optional<Sender> receive_sign(const Comm& comm);
/// An outcome that has arrived, if any.
std::optional<Sender> receive_outcome(Outcome& outcome, const Comm& comm);

}  // namespace cambium::podlstm
