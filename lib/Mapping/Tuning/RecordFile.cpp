//===- RecordFile.cpp - Files of tuning records -----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Mapping/Tuning/RecordFile.h"
#include "kron/Machine/Calibration.h"
#include "kron/Machine/LockedFile.h"
#include "kron/Machine/ShippedRecords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::kron;
using llvm::createStringError;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::vector<Record> mlir::kron::parseRecords(StringRef text, StringRef name,
                                             RecordWarning warn) {
  std::vector<Record> records;
  int64_t number = 0;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    ++number;
    if (line.trim().empty())
      continue;
    if (auto record = parseRecord(line))
      records.push_back(std::move(*record));
    else
      warn((name + ":" + llvm::Twine(number) + ": no tuning record, skipped: " +
            llvm::toString(record.takeError()))
               .str());
  }
  return records;
}

llvm::Expected<std::vector<Record>>
mlir::kron::readRecords(StringRef path, RecordWarning warn) {
  if (path == kShippedRecords)
    return parseRecords(getShippedRecords(), path, warn);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (std::error_code error = buffer.getError())
    return createStringError("cannot read '" + path + "': " + error.message());
  return parseRecords((*buffer)->getBuffer(), path, warn);
}

std::vector<Record> mlir::kron::mergeRecords(llvm::ArrayRef<Record> records) {
  std::vector<Record> merged;
  for (const Record &record : records) {
    auto known = llvm::find_if(merged, [&](const Record &other) {
      return other.key == record.key && other.target == record.target;
    });
    if (known != merged.end())
      *known = record;
    else
      merged.push_back(record);
  }
  return merged;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

llvm::Error mlir::kron::appendRecords(StringRef path,
                                      llvm::ArrayRef<Record> records) {
  if (records.empty())
    return llvm::Error::success();
  auto fail = [&] {
    return createStringError("cannot write '" + path +
                             "': " + llvm::sys::StrError());
  };
  if (StringRef folder = llvm::sys::path::parent_path(path); !folder.empty())
    // As the cache that it may be in: for its owner alone.
    if (std::error_code error = llvm::sys::fs::create_directories(
            folder, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all))
      return createStringError("cannot create '" + folder +
                               "': " + error.message());
  LockedFile file(path.str());
  struct stat status;
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0)
    return fail();
  std::string text;
  // What a process left that was killed while it wrote.
  char last = '\n';
  if (status.st_size > 0 &&
      pread(file.descriptor, &last, 1, status.st_size - 1) != 1)
    return fail();
  if (last != '\n')
    text = "\n";
  for (const Record &record : records)
    text += record.print() + "\n";
  ssize_t written = write(file.descriptor, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size()))
    return llvm::Error::success();
  llvm::Error error = fail();
  // Half a line is none.
  if (written > 0 && ftruncate(file.descriptor, status.st_size) != 0)
    return llvm::joinErrors(std::move(error), fail());
  return error;
}

llvm::Error mlir::kron::checkRecordOutput(StringRef path) {
  std::string place = path.str();
  if (!llvm::sys::fs::exists(place)) {
    // The folder is made with the first record.
    do
      place = llvm::sys::path::parent_path(place).str();
    while (!place.empty() && !llvm::sys::fs::exists(place));
    if (place.empty())
      place = ".";
  } else if (llvm::sys::fs::is_directory(place)) {
    return createStringError("cannot write '" + path + "': it is a folder");
  }
  if (access(place.c_str(), W_OK) != 0)
    return createStringError("cannot write '" + path +
                             "': " + llvm::sys::StrError());
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::string mlir::kron::getUserRecordFile() {
  std::string folder = getCalibrationFolder();
  if (folder.empty())
    return "";
  llvm::SmallString<128> path(llvm::sys::path::parent_path(folder));
  llvm::sys::path::append(path, "records.jsonl");
  return path.str().str();
}

llvm::Error mlir::kron::checkRecordFiles(llvm::ArrayRef<std::string> files) {
  for (const std::string &file : files) {
    if (file == kShippedRecords)
      continue;
    if (auto buffer = llvm::MemoryBuffer::getFile(file); !buffer)
      return createStringError("cannot read '" + file +
                               "': " + buffer.getError().message());
    if (!llvm::sys::fs::is_regular_file(file))
      return createStringError("expects a regular file of records, which is "
                               "read for each version of the code, but got '" +
                               file + "'");
  }
  return llvm::Error::success();
}

bool mlir::kron::hasShippedRecords(StringRef processor, int32_t numThreads) {
  static const std::vector<Record> shipped = parseRecords(
      getShippedRecords(), kShippedRecords, [](const std::string &) {});
  return llvm::any_of(shipped, [&](const Record &record) {
    return record.target.isGPU() || (record.target.processor == processor &&
                                     record.target.threads == numThreads);
  });
}

std::vector<std::string> mlir::kron::getDefaultRecordFiles(int32_t numThreads) {
  std::vector<std::string> files;
  const char *named = std::getenv("KRON_RECORDS");
  llvm::SmallVector<StringRef> names;
  StringRef(named ? named : "").split(names, ':', -1, /*KeepEmpty=*/false);
  // What is named and not there is for readers to tell of.
  for (StringRef name : names)
    files.push_back(name.str());
  std::string own = getUserRecordFile();
  if (!own.empty() && llvm::sys::fs::exists(own))
    files.push_back(std::move(own));
  // To look up plans takes two milliseconds for each kernel.
  if (hasShippedRecords(llvm::sys::getHostCPUName(), numThreads))
    files.push_back(kShippedRecords.str());
  return files;
}
