#include "core/train/weights/whole_pieces.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::train {

WholePieces::WholePieces(Snapshot& snapshot, std::span<const Optimizer::StateInfo> states, int rank, int ranks)
    : snapshot_(snapshot), states_(states.begin(), states.end()) {
  const std::int64_t n = snapshot.weights.layout().parameters(), first = n * rank / ranks;
  own_ = {first, n * (rank + 1) / ranks - first};
}

std::vector<io::SharedArray> WholePieces::arrays(bool with_best) const {
  const DType real = snapshot_.weights.dtype();
  std::vector<io::SharedArray> out{{"/weights", real}};
  if (snapshot_.average.bytes() > 0) out.push_back({"/average", real});
  if (with_best) out.push_back({"/best", real});
  for (const auto& state : states_) out.push_back({"/states/" + state.name, state.dtype});
  return out;
}

std::vector<WholePieces::Piece> WholePieces::pieces(io::Extent part) const {
  std::vector<Piece> out;
  std::int64_t first = 0;
  const auto& tensors = snapshot_.weights.layout().tensors();
  for (std::size_t k = 0; k < tensors.size(); first += tensors[k++].elements) {
    const std::int64_t begin = std::max(part.first, first),
                       end = std::min(part.first + part.count, first + tensors[k].elements);
    if (begin < end) out.push_back({k, {begin - first, end - begin}, {begin, end - begin}});
  }
  return out;
}

std::vector<io::Extent> WholePieces::written() const {
  std::vector<io::Extent> out;
  for (const auto& piece : pieces(own_)) out.push_back(piece.extent);
  return out;
}

FlatBuffer& WholePieces::buffer(const io::SharedArray& array) {
  if (array.name == "/weights") return snapshot_.weights;
  if (array.name == "/average") return snapshot_.average;
  if (array.name == "/best") return snapshot_.best;
  for (std::size_t k = 0; k < states_.size(); ++k)
    if (array.name == "/states/" + states_[k].name) return snapshot_.states[k];
  throw InternalError("weights have no array of that name");
}

static std::byte* address(FlatBuffer& buffer, std::size_t tensor, std::int64_t first) {
  auto* data = reinterpret_cast<std::byte*>(buffer.values<std::uint8_t>().data());
  return data + (buffer.layout().tensors()[tensor].offset + first) * size_of(buffer.dtype());
}

void WholePieces::write(const io::SharedArray& array, const Put& put) {
  auto& from = buffer(array);
  for (const auto& piece : pieces(own_))
    put({address(from, piece.tensor, piece.inside.first),
         static_cast<std::size_t>(piece.extent.count * size_of(array.dtype))});
}

void WholePieces::read(bool with_best, const std::vector<double>& grids, const Get& get) {
  snapshot_.grids = grids;
  snapshot_.has_best = with_best;
  const io::Extent all{0, snapshot_.weights.layout().parameters()};
  for (const auto& array : arrays(with_best))
    for (const auto& piece : pieces(all))
      get(array, piece.extent, address(buffer(array), piece.tensor, piece.inside.first));
}

}  // namespace cambium::train
