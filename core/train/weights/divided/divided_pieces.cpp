#include "core/train/weights/divided/divided_pieces.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::train {

/// Part of a group on this rank: in the storage format of weights, or as plain values.
struct DividedPieces::Stored {
  std::byte* data;
  Interval part;
  bool as_weights;
};

DividedPieces::DividedPieces(DividedParts& parts, WholeCopies& copies) : parts_(parts), copies_(copies) {
  std::int64_t first = 0;
  for (const auto& tensor : parts.layout->tensors()) {
    first_.push_back(first);
    first += tensor.elements;
  }
}

std::vector<io::SharedArray> DividedPieces::arrays(bool with_best) const {
  std::vector<io::SharedArray> out{{"/weights", parts_.form.real}};
  if (parts_.settings.average) out.push_back({"/average", parts_.form.real});
  if (with_best) out.push_back({"/best", parts_.form.real});
  for (const auto& info : parts_.infos) out.push_back({"/states/" + info.name, info.dtype});
  return out;
}

std::vector<DividedPieces::Piece> DividedPieces::pieces(const DividedGroup& g, Interval part) const {
  std::vector<Piece> out;
  for (const int k : g.tensors) {
    const auto at = static_cast<std::size_t>(k);
    const auto& tensor = parts_.layout->tensors()[at];
    const std::int64_t begin = std::max(part.begin, tensor.offset),
                       end = std::min(part.end, tensor.offset + tensor.elements);
    if (begin < end) out.push_back({begin, {first_[at] + begin - tensor.offset, end - begin}});
  }
  return out;
}

std::vector<io::Extent> DividedPieces::written() const {
  std::vector<io::Extent> out;
  for (const auto& g : parts_.groups)
    for (const auto& piece : pieces(g, written(g))) out.push_back(piece.extent);
  return out;
}

DividedPieces::Stored DividedPieces::stored(const io::SharedArray& array, const DividedGroup& g) {
  const Interval stepped = parts_.stepped(g);
  if (array.name == "/weights") return {parts_.weights_of(g), parts_.share(g, g.weights_depth), true};
  if (array.name == "/average") return {parts_.average_of(g), stepped, false};
  if (array.name == "/best") return {copies_.best_of(g), stepped, parts_.served() == nullptr};
  for (std::size_t k = 0; k < parts_.infos.size(); ++k)
    if (array.name == "/states/" + parts_.infos[k].name) return {parts_.state_of(g, k), stepped, false};
  throw InternalError("a sharded model has no array of that name");
}

void DividedPieces::write(const io::SharedArray& array, const Put& put) {
  const std::int64_t size = size_of(array.dtype);
  for (const auto& g : parts_.groups) {
    const Stored from = stored(array, g);
    const Interval mine = written(g);
    Block window;
    const std::byte* numbers = nullptr;
    if (from.as_weights && !parts_.form.plain()) {
      window = Block(parts_.memory, Held::windows, mine.size() * size);
      parts_.form.to_real(from.data + parts_.form.bytes({from.part.begin, mine.begin}), mine, window.data());
      numbers = window.data();
    } else {
      numbers = from.data + (mine.begin - from.part.begin) * size;
    }
    for (const auto& piece : pieces(g, mine))
      put({numbers + (piece.element - mine.begin) * size, static_cast<std::size_t>(piece.extent.count * size)});
  }
}

void DividedPieces::read(bool with_best, const std::vector<double>& grids, const Get& get) {
  if (parts_.form.packed) parts_.form.packed->set_steps(grids);
  if (with_best) copies_.make_best();
  for (const auto& array : arrays(with_best)) read(array, get);
}

void DividedPieces::read(const io::SharedArray& array, const Get& get) {
  const std::int64_t size = size_of(array.dtype);
  for (const auto& g : parts_.groups) {
    const Stored to = stored(array, g);
    const bool converted = to.as_weights && !parts_.form.plain();
    Block window;
    if (converted) window = Block(parts_.memory, Held::windows, to.part.size() * size);
    std::byte* const numbers = converted ? window.data() : to.data;
    for (const auto& piece : pieces(g, to.part))
      get(array, piece.extent, numbers + (piece.element - to.part.begin) * size);
    if (converted) parts_.form.to_kept(numbers, to.part, to.data);
  }
}

std::vector<double> DividedPieces::steps() const {
  return parts_.form.packed ? parts_.form.packed->steps() : std::vector<double>{};
}

}  // namespace cambium::train
