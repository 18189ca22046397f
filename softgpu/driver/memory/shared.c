/* Memory that other processes map. What is to be shared moves, page by page, to a file without a
   name, and stays at its address. The file is gone with the last process that has it, however that
   ends.

   Behind the pages of the zones that allocations come from, the file has a number for every 512 bytes
   of them: the id of the shared allocation that begins there, or 0. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

static const uint64_t PAGES_END = ZONES_MOST, ALL_END = ZONES_MOST + ZONES_MOST / 64;

static int file = -1;

static uint64_t id_at(uint64_t at) { return PAGES_END + at / ALLOCATION_ALIGN * sizeof(uint64_t); }

static uint64_t inode_of(int descriptor)
{
    struct statx found; /* fstat has another name in glibc 2.28 */
    return statx(descriptor, "", AT_EMPTY_PATH, STATX_INO, &found) ? 0 : found.stx_ino;
}

CUresult shared_file(SharedFile *out)
{
    int made = file < 0 ? memfd_create("softgpu", MFD_CLOEXEC) : file;
    if (made < 0 || (file < 0 && ftruncate(made, ALL_END))) {
        CUresult result =
            fail(CUDA_ERROR_OPERATING_SYSTEM, "no memory can be shared: %s", strerror(errno));
        if (made >= 0) close(made);
        return result;
    }
    file = made;
    *out = (SharedFile){getpid(), file, inode_of(file)};
    return CUDA_SUCCESS;
}

/* A page that a neighbour in it has moved stays: other processes may be writing to it. */
static bool move_page(char *page, off_t to)
{
    bool there = lseek(file, to, SEEK_DATA) == to;
    if (!there && pwrite(file, page, HOST_PAGE, to) != HOST_PAGE) return false;
    return mmap(page, HOST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, to) == page;
}

CUresult shared_begin(const SharedPlace *place, uint64_t address)
{
    uint64_t inside = place->at % HOST_PAGE;
    bool moved = true;
    for (uint64_t done = 0; moved && done < inside + place->bytes; done += HOST_PAGE)
        moved = move_page((char *)(address - inside + done), place->at - inside + done);
    if (moved && pwrite(file, &place->id, sizeof place->id, id_at(place->at)) > 0)
        return CUDA_SUCCESS;
    return fail(CUDA_ERROR_OUT_OF_MEMORY, "%s", strerror(errno));
}

void shared_end(uint64_t at)
{
    static const uint64_t none;
    if (pwrite(file, &none, sizeof none, id_at(at)) < 0) perror("softgpu: freed memory is shared");
}

void shared_drop(uint64_t at, size_t bytes)
{
    if (file >= 0) fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, bytes);
}

CUresult shared_open(const SharedFile *of, int *descriptor)
{
    if (of->process == getpid())
        return fail(
            CUDA_ERROR_INVALID_CONTEXT,
            "the handle is of this process (%d), and for others: here, use what it was made of",
            getpid());
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", of->process, of->file);
    int found = open(path, O_RDWR | O_CLOEXEC);
    if (found >= 0 && inode_of(found) == of->inode) return *descriptor = found, CUDA_SUCCESS;
    bool hidden = found < 0 && errno != ENOENT;
    if (found >= 0) close(found);
    if (hidden)
        return fail(CUDA_ERROR_INVALID_HANDLE, "process %d shares nothing with this one: %s",
                    of->process, strerror(errno));
    return fail(CUDA_ERROR_INVALID_HANDLE, "process %d, which made the handle, has ended",
                of->process);
}

CUresult shared_map(const SharedPlace *place, uint64_t address)
{
    int descriptor;
    CUresult result = shared_open(&place->of, &descriptor);
    if (result) return result;
    uint64_t inside = place->at % HOST_PAGE, id = 0;
    if (pread(descriptor, &id, sizeof id, id_at(place->at)) != sizeof id || id != place->id)
        result = fail(CUDA_ERROR_INVALID_HANDLE, "process %d has freed this memory (cuMemFree)",
                      place->of.process);
    else if (mmap((void *)(address - inside), inside + place->bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_FIXED, descriptor, place->at - inside) == MAP_FAILED)
        result = fail(CUDA_ERROR_MAP_FAILED, "%s", strerror(errno));
    close(descriptor);
    return result;
}
