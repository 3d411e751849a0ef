#include "plugins/deepmd/datasets/batch.hpp"

namespace cambium::deepmd {

void Batch::place_atoms() {
  frame_begin_.assign(1, 0);
  for (const FramePtr& frame : frames_) frame_begin_.push_back(frame_begin_.back() + frame->atoms());
  place_.resize(frame_begin_.back());
  type_begin_.assign(1, 0);
  frame_of_.clear();
  number_of_.clear();
  for (int t = 0; t < ntypes_; ++t) {
    for (int f = 0; f < frames(); ++f)
      for (int i = 0; i < frame(f).atoms(); ++i) {
        if (frame(f).type[i] != t) continue;
        place_[frame_begin_[f] + i] = atoms();
        frame_of_.push_back(f);
        number_of_.push_back(i);
      }
    type_begin_.push_back(atoms());
  }
}

void Batch::append_rows(int neighbour_type, int atom) {
  const int f = frame_of(atom);
  const TrainingFrame& from = frame(f);
  const auto i = static_cast<std::size_t>(number_of_[atom]);
  row_begin_.push_back(rows());
  for (int k = from.first[i]; k < from.first[i + 1]; ++k) {
    const int j = from.neighbour[k];
    if (from.type[j] != neighbour_type) continue;
    centre_.push_back(atom);
    neighbour_.push_back(place(f, j));
    d_.insert(d_.end(), &from.d[3 * static_cast<std::size_t>(k)], &from.d[3 * static_cast<std::size_t>(k)] + 3);
  }
  row_count_.push_back(rows() - row_begin_.back());
}

void Batch::assign(std::span<const FramePtr> frames, int ntypes) {
  ntypes_ = ntypes;
  frames_.assign(frames.begin(), frames.end());
  place_atoms();
  row_begin_.clear();
  row_count_.clear();
  centre_.clear();
  neighbour_.clear();
  d_.clear();
  block_begin_.assign(1, 0);
  for (int tj = 0; tj < ntypes; ++tj)
    for (int ti = 0; ti < ntypes; ++ti) {
      for (int a = type_begin(ti); a < type_begin(ti + 1); ++a) append_rows(tj, a);
      centre_.push_back(-1);
      neighbour_.push_back(-1);
      d_.insert(d_.end(), 3, 0.0);
      block_begin_.push_back(rows());
    }
}

}  // namespace cambium::deepmd
