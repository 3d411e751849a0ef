#include "core/parallel/comm.hpp"

#include <cmath>

namespace cambium {

namespace {

/// The larger (or smaller) of two values, NaN if either is NaN. MPI_MAX of Open MPI keeps a NaN or drops it, and finite
/// values with it, depending on the order in which ranks are combined.
template <bool Larger>
void join(void* from, void* into, int* count, MPI_Datatype*) {
  const auto* a = static_cast<const double*>(from);
  auto* b = static_cast<double*>(into);
  for (int i = 0; i < *count; ++i)
    if (std::isnan(a[i]) || (Larger ? a[i] > b[i] : a[i] < b[i])) b[i] = a[i];
}

template <bool Larger>
MPI_Op operation() {
  static const MPI_Op op = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(join<Larger>, 1, &made);
    return made;
  }();
  return op;
}

}  // namespace

Comm::Comm(MPI_Comm parent) {
  MPI_Comm_dup(parent, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

Comm::~Comm() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Comm::sum(std::span<double> v) const {
  MPI_Allreduce(MPI_IN_PLACE, v.data(), static_cast<int>(v.size()), MPI_DOUBLE, MPI_SUM, comm_);
}

double Comm::sum(double value) const {
  sum(std::span<double>(&value, 1));
  return value;
}

std::int64_t Comm::sum(std::int64_t value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, comm_);
  return value;
}

double Comm::max(double value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation<true>(), comm_);
  return value;
}

double Comm::min(double value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation<false>(), comm_);
  return value;
}

int Comm::max(int value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, comm_);
  return value;
}

void Comm::max(std::span<double> v) const {
  MPI_Allreduce(MPI_IN_PLACE, v.data(), static_cast<int>(v.size()), MPI_DOUBLE, operation<true>(), comm_);
}

void Comm::min(std::span<double> v) const {
  MPI_Allreduce(MPI_IN_PLACE, v.data(), static_cast<int>(v.size()), MPI_DOUBLE, operation<false>(), comm_);
}

void Comm::broadcast(std::string& text, int root) const {
  std::int64_t n = static_cast<std::int64_t>(text.size());
  MPI_Bcast(&n, 1, MPI_INT64_T, root, comm_);
  text.resize(n);
  MPI_Bcast(text.data(), static_cast<int>(n), MPI_CHAR, root, comm_);
}

void Comm::broadcast(std::span<double> v, int root) const {
  MPI_Bcast(v.data(), static_cast<int>(v.size()), MPI_DOUBLE, root, comm_);
}

std::vector<std::int64_t> Comm::all_gather(std::int64_t value) const {
  std::vector<std::int64_t> out(size_);
  MPI_Allgather(&value, 1, MPI_INT64_T, out.data(), 1, MPI_INT64_T, comm_);
  return out;
}

std::int64_t Comm::exclusive_sum(std::int64_t value) const {
  std::int64_t before = 0;
  MPI_Exscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, comm_);
  return rank_ == 0 ? 0 : before;
}

void Comm::barrier() const { MPI_Barrier(comm_); }

}  // namespace cambium
