#include "core/train/weights/divided/level_exchange.hpp"

#include <cstring>

#include "core/parallel/length.hpp"

namespace cambium::train {

static MPI_Datatype mpi_type(DType dtype) {
  if (dtype == DType::u8) return MPI_BYTE;
  return dtype == DType::f64 ? MPI_DOUBLE : dtype == DType::f32 ? MPI_FLOAT : MPI_UINT16_T;
}

std::int64_t parts_of(const Mesh& mesh, int depth) {
  std::int64_t parts = 1;
  for (int k = 0; k < depth; ++k) parts *= mesh.levels()[k].ranks;
  return parts;
}

Interval share_of(const Mesh& mesh, Interval whole, int depth) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k) {
    const std::int64_t size = whole.size() / mesh.levels()[k].ranks;
    whole.begin += size * mesh.coordinate(k);
    whole.end = whole.begin + size;
  }
  return whole;
}

void gather_levels(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires,
                   std::string_view what) {
  const std::int64_t base = share_of(wires.mesh, whole, to).begin;
  for (int level = from - 1; level >= to; --level) {
    const auto& here = wires.mesh.levels()[level];
    if (here.ranks == 1) continue;
    const Interval outer = share_of(wires.mesh, whole, level);
    const std::int64_t own = outer.size() / here.ranks;
    const MessageLength length(own, mpi_type(dtype));
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values + (outer.begin - base) * size_of(dtype), length.count(),
                  length.type(), wires.mesh.along(static_cast<std::size_t>(level)).handle());
    wires.traffic.count(what, here.name, own * (here.ranks - 1) * size_of(dtype));
  }
}

void gather_packed(std::byte* values, Interval whole, int from, int to, const ByteOf& byte_of, const Wires& wires,
                   std::string_view what) {
  LevelGather gather;
  gather.start_packed(values, whole, from, to, byte_of, wires, what);
  gather.advance(true);
}

void LevelGather::start_packed(std::byte* values, Interval whole, int from, int to, const ByteOf& byte_of,
                               const Wires& wires, std::string_view what) {
  byte_of_ = byte_of;
  start(values, whole, from, to, DType::u8, wires, what);
}

void LevelGather::start(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires,
                        std::string_view what) {
  wires_ = &wires;
  values_ = values;
  whole_ = whole;
  level_ = from;
  to_ = to;
  dtype_ = dtype;
  what_ = what;
  base_ = share_of(wires.mesh, whole, to).begin;
  post();
}

/// Starts the outermost remaining level.
void LevelGather::post() {
  const auto& mesh = wires_->mesh;
  while (level_ > to_ && mesh.levels()[level_ - 1].ranks == 1) --level_;
  if (level_ == to_) return;
  const auto level = static_cast<std::size_t>(--level_);
  const auto& here = mesh.levels()[level];
  const Interval outer = share_of(mesh, whole_, level_);
  if (byte_of_) return post_packed(here, level, outer);
  const std::int64_t own = outer.size() / here.ranks;
  const MessageLength length(own, mpi_type(dtype_));
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values_ + (outer.begin - base_) * size_of(dtype_), length.count(),
                 length.type(), mesh.along(level).handle(), &request_);
  wires_->traffic.count(what_, here.name, own * (here.ranks - 1) * size_of(dtype_));
}

void LevelGather::post_packed(const Mesh::Level& here, std::size_t level, Interval outer) {
  const auto ranks = static_cast<std::size_t>(here.ranks);
  const std::int64_t own = outer.size() / here.ranks, base = byte_of_(base_);
  counts_.resize(ranks);
  begins_.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t first = outer.begin + static_cast<std::int64_t>(rank) * own, begin = byte_of_(first);
    begins_[rank] = static_cast<int>(begin - base);
    counts_[rank] = static_cast<int>(byte_of_(first + own) - begin);
  }
  MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values_, counts_.data(), begins_.data(), MPI_BYTE,
                  wires_->mesh.along(level).handle(), &request_);
  wires_->traffic.count(what_, here.name,
                        static_cast<std::int64_t>(counts_[wires_->mesh.coordinate(level)]) * (here.ranks - 1));
}

bool LevelGather::advance(bool wait) {
  while (request_ != MPI_REQUEST_NULL) {
    int done = 1;
    if (wait)
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
    else
      MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    if (!done) return false;
    post();
  }
  return true;
}

void LevelReduce::start(std::byte* values, Interval whole, int from, int to, DType dtype, const Wires& wires, int tag) {
  wires_ = &wires;
  values_ = values;
  whole_ = whole;
  level_ = from;
  to_ = to;
  dtype_ = dtype;
  tag_ = tag;
  base_ = share_of(wires.mesh, whole, from).begin;
  if (level_ < to_) post();
}

/// Sends every other rank of the level its part and posts receives for this rank's.
void LevelReduce::post() {
  const auto& mesh = wires_->mesh;
  const auto& here = mesh.levels()[level_];
  const Interval mine = share_of(mesh, whole_, level_);
  const std::int64_t part = mine.size() / here.ranks, bytes = part * size_of(dtype_);
  const int me = mesh.coordinate(static_cast<std::size_t>(level_));
  const MPI_Comm comm = mesh.along(static_cast<std::size_t>(level_)).handle();
  requests_.clear();
  if (here.ranks == 1) return;
  received_ = Block(wires_->memory, Held::messages, bytes * (here.ranks - 1));
  for (int step = 1; step < here.ranks; ++step) {
    const int from = (me + step) % here.ranks, to = (me + here.ranks - step) % here.ranks;
    const int slot = from < me ? from : from - 1;
    const MessageLength length(part, mpi_type(dtype_));
    MPI_Irecv(received_.data() + slot * bytes, length.count(), length.type(), from, tag_, comm,
              &requests_.emplace_back());
    MPI_Isend(at(mine.begin + to * part), length.count(), length.type(), to, tag_, comm, &requests_.emplace_back());
  }
  wires_->traffic.count("reduce-scatter", here.name, bytes * (here.ranks - 1));
}

bool LevelReduce::arrived(bool wait) {
  int done = 1;
  const int n = static_cast<int>(requests_.size());
  if (wait)
    MPI_Waitall(n, requests_.data(), MPI_STATUSES_IGNORE);
  else
    MPI_Testall(n, requests_.data(), &done, MPI_STATUSES_IGNORE);
  return done != 0;
}

void LevelReduce::add() {
  const auto& mesh = wires_->mesh;
  const int ranks = mesh.levels()[level_].ranks, me = mesh.coordinate(static_cast<std::size_t>(level_));
  if (ranks == 1) return;
  const Interval own = share_of(mesh, whole_, level_ + 1);
  with_kept(dtype_, [&]<class T>() {
    const auto n = static_cast<std::size_t>(own.size());
    T* mine = reinterpret_cast<T*>(at(own.begin));
    const auto part = [&](int rank) {
      return rank == me
                 ? mine
                 : reinterpret_cast<T*>(received_.data()) + static_cast<std::size_t>(rank < me ? rank : rank - 1) * n;
    };
    for (int step = 1; step < ranks; step *= 2)
      for (int rank = 0; rank + step < ranks; rank += 2 * step) {
        T* into = part(rank);
        const T* other = part(rank + step);
        for (std::size_t k = 0; k < n; ++k) into[k] += other[k];
      }
    if (me != 0) std::memcpy(mine, part(0), n * sizeof(T));
  });
  received_ = {};
}

bool LevelReduce::advance(bool wait) {
  while (level_ < to_) {
    if (!arrived(wait)) return false;
    add();
    if (++level_ < to_) post();
  }
  return true;
}

}  // namespace cambium::train
