#pragma once
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/comm.hpp"

/// Arrays of a checkpoint in one file a rank. `restart.20.h5` is the manifest: it lists arrays, files and their
/// checksums in its group /shares, and is written when all of them are on the disk. The files lie beside it in the
/// folder `restart.20.shares`, and each is
///   64 bytes                    name, format, rank and number of ranks
///   numbers                     array by array; of each the extents of this rank, one after the other
///   32 bytes                    a checksum of all before (core/io/hdf5/seal.hpp)
/// in the byte order of the machine.
namespace cambium::io {

/// Numbers [first, first + count) of an array.
struct Extent {
  std::int64_t first = 0, count = 0;
};

struct SharedArray {
  std::string name;  ///< such as "/states/momentum"
  DType dtype = DType::f64;
};

/// The folder of a manifest's shares.
std::string shares_folder(const std::string& manifest);

/// This rank's share of the arrays of one checkpoint on its way to the disk.
class ShareWriter {
 public:
  /// Collective: draws a name for the files and makes their folder. Every number of an array belongs to one rank.
  /// `behind`: the numbers are kept in memory until start(). InputError, on every rank, when the disk refuses.
  ShareWriter(std::string manifest, std::vector<SharedArray> arrays, std::vector<Extent> extents, bool behind,
              const Comm& comm);
  ~ShareWriter();

  /// The next numbers, in the order of the file; InputError of the disk.
  void put(std::span<const std::byte> numbers);
  /// Collective, when all are put. Without `behind` the files are on the disk then.
  void finish();
  /// On rank 0, after finish(): the group /shares.
  void describe(Group& manifest) const;
  /// Brings the numbers in memory to the disk by a thread of its own, which calls neither MPI nor HDF5.
  void start();
  enum class State { done, running, failed };
  State state();
  /// Until the thread has ended. InputError of the disk, once.
  void wait();
  /// On rank 0, when the manifest has its name: removes what other attempts left in its folder.
  void remove_others() const;
  std::int64_t bytes() const { return bytes_; }  ///< of this rank's file

 private:
  struct Disk;
  void gather_index(std::int64_t bytes, std::int64_t checksum);

  const Comm& comm_;
  std::string manifest_, token_, path_;
  std::vector<SharedArray> arrays_;
  std::vector<Extent> extents_;
  std::int64_t bytes_ = 0, put_ = 0;  ///< of the file before its seal
  std::unique_ptr<Disk> disk_;        ///< while numbers go to the disk at once
  std::vector<char> memory_;
  std::future<void> thread_;
  std::exception_ptr failed_;  ///< what ended the thread
  /// On rank 0, of all ranks: the sizes and checksums of files, and the extents rank by rank.
  std::vector<std::int64_t> sizes_, checksums_, lengths_, all_extents_;
};

/// Arrays of a checkpoint that lie in shares, whoever wrote them.
class ShareReader {
 public:
  /// InputError when the list in the file cannot be understood, or a newer version wrote it.
  explicit ShareReader(const File& manifest);
  ~ShareReader();
  ShareReader(ShareReader&&) noexcept;

  /// True if the file's arrays lie in shares.
  static bool lists(const File& file) { return file.is_group("/shares"); }
  bool holds(const std::string& array) const;
  std::int64_t elements() const { return elements_; }  ///< of each array
  /// Fills `to`, of the array's type, from as many files as it takes. InputError when one is missing or short.
  void read(const std::string& array, Extent extent, DType dtype, std::byte* to);
  /// What is wrong with one file; empty when nothing is. `rank` wrote it.
  std::string damage(int rank) const;
  int ranks() const { return static_cast<int>(sizes_.size()); }

 private:
  struct Piece {
    std::int64_t first, count;
    int rank;
    std::int64_t begin;  ///< numbers of each array before it in the rank's file
  };
  struct Open;
  std::string path(int rank) const;
  void make_pieces(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& extents);
  void read_from(const Piece& piece, std::size_t array, Extent part, std::byte* to);

  std::string manifest_, token_;
  std::vector<SharedArray> arrays_;
  std::vector<std::int64_t> sizes_, checksums_, counts_;  ///< by rank: bytes, sum of them, numbers of each array
  std::vector<Piece> pieces_;                             ///< by their first numbers
  std::int64_t elements_ = 0;
  std::unique_ptr<Open> open_;
};

/// Collective: what is wrong with the shares of a checkpoint, in which every rank looks at some of the files; empty
/// when nothing is, and for a file without shares. InputError when a newer version wrote them.
std::string share_damage(const std::string& manifest, const Comm& comm);

/// Removes a checkpoint: the manifest, then its shares. Errors are ignored.
void remove_with_shares(const std::string& manifest);
/// Removes folders of shares without a manifest: their runs were ended while they wrote.
void remove_stray_shares(const std::string& folder);

}  // namespace cambium::io
