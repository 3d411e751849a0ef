#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/io/background_file.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/comm.hpp"
#include "core/particles/state.hpp"

namespace cambium::io {

/// How the rows of all ranks reach the file: through rank 0, or by all ranks at once with MPI-IO. Both give the same
/// file.
enum class Transfer { gather, collective };

/// Collective: writes everything that is needed to continue a run, completely or not at all:
///   /cambium                    provenance and the resolved deck (attributes)
///   /checkpoint                 format, step, time (attributes)
///   /box, /species              cell vectors and origin; symbols and masses
///   /ranks/<place>              rows of each rank, for particle, cell and node fields
///   /fields/<name>              every field with `restart`, rows in rank order; global fields from rank 0
///   32 bytes at the end         a checksum of all preceding bytes (core/io/hdf5/seal.hpp)
///   content of `save`           called on every rank with the root group; what rank 0 wrote is kept
/// With `compress` real arrays of 1024 values or more are compressed accordingly; that each value is within an absolute
/// or relative bound is checked before the file is renamed. InputError, on every rank, if the disk fails; an older file
/// of that name is then kept.
void write_checkpoint(const std::string& path, const State& state, const Comm& comm, const Provenance& provenance,
                      const std::function<void(Group&)>& save, Transfer transfer = Transfer::gather,
                      const std::optional<Compression>& compress = {});

/// Collective: the same, gathered, but rank 0 keeps the complete file in memory and `disk` writes it while the run
/// continues. `allowed` and `after` are passed to BackgroundFile::write(); its InputError of the previous file is
/// thrown on every rank.
void write_checkpoint_later(const std::string& path, const State& state, const Comm& comm, const Provenance& provenance,
                            const std::function<void(Group&)>& save, BackgroundFile& disk,
                            std::function<void()> allowed, std::function<void()> after);

/// Collective. InputError if the bytes of a checkpoint, of any stage, are not those that were written; false if it has
/// no checksum, because an earlier version wrote it or HDF5 changed it since.
bool require_sound(const std::string& path, const Comm& comm);

/// A checkpoint open for reading, on every rank.
class Checkpoint {
 public:
  /// Collective. InputError when the file is missing, truncated, damaged or not a checkpoint.
  Checkpoint(const std::string& path, const Comm& comm);

  std::int64_t step() const { return step_; }
  double time() const { return time_; }
  /// True if written by as many ranks as there are now: each gets its own particles. Otherwise they are spread evenly,
  /// in file order. Cells and nodes follow the present distribution of the state.
  bool same_ranks() const { return same_ranks_; }
  bool sealed() const { return sealed_; }  ///< its bytes were compared with their checksum
  std::string deck() const { return file_->group("/cambium").attribute<std::string>("deck"); }
  const File& file() const { return *file_; }  ///< for the groups created by `save`

  /// Rows of this rank for fields that live there.
  std::int64_t rows(At at) const;
  /// Fills box, species, step and time; calls `resize(rows of the particle fields)`, which must make every field's
  /// tensor() that long; then fills every field with `restart`. InputError when a field is missing or of another shape.
  void restore(State& state, const std::function<void(std::int64_t rows)>& resize) const;

 private:
  struct Share {
    std::int64_t first = 0, rows = 0;
  };
  Share share(At at) const;
  /// Collective: the rows of this rank in the distribution of `state`, whichever ranks wrote them; none if their number
  /// in the file differs.
  Share share_of(const State& state, At at) const;
  void restore_field(const FieldSpec& field, Share mine) const;

  const Comm& comm_;
  bool sealed_ = false;
  std::optional<File> file_;
  std::int64_t step_ = 0;
  double time_ = 0.0;
  std::int64_t ranks_ = 1;
  bool same_ranks_ = false;
};

}  // namespace cambium::io
