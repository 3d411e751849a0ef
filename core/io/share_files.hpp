#pragma once
#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/comm.hpp"

/// Arrays of a checkpoint in one file per rank. `restart.20.h5` is the manifest: it lists arrays, files and their
/// checksums in its group /shares, and is written once all of them are on disk. The files are stored next to it in the
/// folder `restart.20.shares`, and each is
///   64 bytes                    name, format, rank and number of ranks
///   values                      array by array; for each the extents of this rank, one after the other
///   32 bytes                    a checksum of all preceding bytes (core/io/hdf5/seal.hpp)
/// in the byte order of the machine.
namespace cambium::io {

/// Elements [first, first + count) of an array.
struct Extent {
  std::int64_t first = 0, count = 0;
};

struct SharedArray {
  std::string name;  ///< such as "/states/momentum"
  DType dtype = DType::f64;
};

/// Folder of the rank files of a manifest.
std::string shares_folder(const std::string& manifest);

/// Writes this rank's part of the arrays of one checkpoint.
class ShareWriter {
 public:
  /// Collective: draws a random name for the files and creates their folder. Every element of an array belongs to one
  /// rank. With `behind` the data are kept in that memory, whose old contents are lost, until start(). InputError, on
  /// every rank, if the disk fails.
  ShareWriter(std::string manifest, std::vector<SharedArray> arrays, std::vector<Extent> extents,
              std::optional<std::vector<char>> behind, const Comm& comm);
  ~ShareWriter();

  /// Appends the next elements, in file order; InputError of the disk.
  void put(std::span<const std::byte> numbers);
  /// After all calls of put(), with `behind`: computes the checksum of the data in memory and writes both to disk in a
  /// thread of its own, which calls neither MPI nor HDF5.
  void start();
  enum class State { done, running };
  State state();
  /// Collective, after all calls of put(): waits for the thread of start(), or completes the file that was written
  /// meanwhile. The files of all ranks are then on disk. InputError of the disk, on every rank.
  void finish();
  /// On rank 0, after finish(): writes the group /shares.
  void describe(Group& manifest) const;
  /// The memory of `behind`, for the next checkpoint; after finish().
  std::vector<char> take_memory() { return std::move(memory_); }
  /// On rank 0, once the manifest has its name: removes files of other attempts from its folder.
  void remove_others() const;
  std::int64_t bytes() const { return bytes_; }  ///< of this rank's file

 private:
  struct Disk;
  void require_all_put() const;
  void complete();
  void gather_index();

  const Comm& comm_;
  std::string manifest_, token_, path_;
  std::vector<SharedArray> arrays_;
  std::vector<Extent> extents_;
  std::int64_t bytes_ = 0, put_ = 0;      ///< of the file before its seal
  std::array<std::int64_t, 2> sealed_{};  ///< size and checksum in the seal of this rank's file
  std::unique_ptr<Disk> disk_;            ///< if data go to disk at once
  std::vector<char> memory_;
  std::future<void> thread_;
  /// On rank 0, of all ranks: the sizes and checksums of files, and the extents rank by rank.
  std::vector<std::int64_t> sizes_, checksums_, lengths_, all_extents_;
};

/// Reads arrays of a checkpoint from its rank files, whatever the number of ranks that wrote them.
class ShareReader {
 public:
  /// InputError if the list in the file is invalid, or a newer version wrote it.
  explicit ShareReader(const File& manifest);
  ~ShareReader();
  ShareReader(ShareReader&&) noexcept;

  /// True if the file's arrays are in rank files.
  static bool lists(const File& file) { return file.is_group("/shares"); }
  bool holds(const std::string& array) const;
  std::int64_t elements() const { return elements_; }  ///< of each array
  /// Fills `to`, of the array's type, from as many files as needed. InputError if one is missing or short.
  void read(const std::string& array, Extent extent, DType dtype, std::byte* to);
  /// Describes the damage of the file of `rank`; empty if there is none.
  std::string damage(int rank) const;
  int ranks() const { return static_cast<int>(sizes_.size()); }

 private:
  struct Piece {
    std::int64_t first, count;
    int rank;
    std::int64_t begin;  ///< elements of each array before it in the rank's file
  };
  struct Open;
  std::string path(int rank) const;
  void make_pieces(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& extents);
  void read_from(const Piece& piece, std::size_t array, Extent part, std::byte* to);

  std::string manifest_, token_;
  std::vector<SharedArray> arrays_;
  std::vector<std::int64_t> sizes_, checksums_, counts_;  ///< per rank: bytes, checksum, elements of each array
  std::vector<Piece> pieces_;                             ///< ordered by first element
  std::int64_t elements_ = 0;
  std::unique_ptr<Open> open_;
};

/// Collective: describes the damage of the rank files of a checkpoint, each checked by one rank; empty if there is
/// none, and for a file without them. InputError if a newer version wrote them.
std::string share_damage(const std::string& manifest, const Comm& comm);

/// Removes a checkpoint: the manifest, then its rank files. Errors are ignored.
void remove_with_shares(const std::string& manifest);
/// Removes folders of rank files without a manifest: their runs ended while writing.
void remove_stray_shares(const std::string& folder);

}  // namespace cambium::io
