#pragma once
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace cambium::io {

/// Writes one file at a time to disk in a thread of its own while the program continues. The thread calls neither HDF5
/// nor MPI: it gets finished bytes. For one rank; not to be shared by threads.
class BackgroundFile {
 public:
  BackgroundFile() = default;
  ~BackgroundFile();  ///< waits; an error then is lost
  BackgroundFile(const BackgroundFile&) = delete;
  BackgroundFile& operator=(const BackgroundFile&) = delete;

  /// Waits for the previous file, then starts this one: `allowed` may throw InputError, `bytes` become the file `path`
  /// completely or not at all, then `after` is called. The thread calls both. InputError of the previous file.
  void write(std::string path, std::vector<char> bytes, std::function<void()> allowed, std::function<void()> after);
  /// Waits until the file is on disk. InputError if it could not be written; thrown once.
  void wait();

 private:
  std::thread thread_;
  std::exception_ptr failed_;
};

}  // namespace cambium::io
