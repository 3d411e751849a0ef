#pragma once
#include <span>
#include <string>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/comm.hpp"
#include "core/train/tables/row_store.hpp"

namespace cambium::train {

/// Message when a table is written: its rows [begin, end), of one part of the store. table -1 ends it.
struct Piece {
  std::int64_t table = -1, part = 0, begin = 0, end = 0;
};

/// Transfers rows of tables between ranks and files, in blocks of about 64 MB, so rank 0 never holds an entire table.
template <class T>
class TablePieces {
 public:
  using Part = typename RowStore<T>::Part;
  /// All arguments must outlive this.
  TablePieces(std::span<const TableInfo> tables, const TablePlaces& places, RowStore<T>& store, const Comm& comm)
      : tables_(tables), places_(places), store_(store), comm_(comm) {}

  /// On rank 0, with the others in serve(): writes one part of every table to `/rows/<table>/<name>`.
  void write(io::File& file, Part part, const std::string& name);
  void serve();
  void end_serving();
  /// Reads this rank's rows of one part from such a file, `from` being the array's name. InputError for different
  /// sizes.
  void read(const io::File& file, Part into, const std::string& from);

 private:
  std::vector<T> exchange(Piece piece);
  std::int64_t block_of(std::int64_t width) const;

  std::span<const TableInfo> tables_;
  const TablePlaces& places_;
  RowStore<T>& store_;
  const Comm& comm_;
};

extern template class TablePieces<double>;
extern template class TablePieces<float>;

}  // namespace cambium::train
