/* The driver's entry points by name, with the version of CUDA in which each came to be what it is. */
#ifndef SOFTGPU_ENTRY_POINTS_H
#define SOFTGPU_ENTRY_POINTS_H

#define SUPPORTED(X)                                                                               \
    X(cuArray3DCreate_v2, 3020)                                                                    \
    X(cuArray3DGetDescriptor_v2, 3020)                                                             \
    X(cuArrayCreate_v2, 3020)                                                                      \
    X(cuArrayDestroy, 2000)                                                                        \
    X(cuArrayGetDescriptor_v2, 3020)                                                               \
    X(cuCtxAttach, 2000)                                                                           \
    X(cuCtxCreate, 2000)                                                                           \
    X(cuCtxCreate_v2, 3020)                                                                        \
    X(cuCtxCreate_v3, 11040)                                                                       \
    X(cuCtxCreate_v4, 12050)                                                                       \
    X(cuCtxDestroy, 2000)                                                                          \
    X(cuCtxDestroy_v2, 4000)                                                                       \
    X(cuCtxDetach, 2000)                                                                           \
    X(cuCtxDisablePeerAccess, 4000)                                                                \
    X(cuCtxEnablePeerAccess, 4000)                                                                 \
    X(cuCtxGetApiVersion, 3020)                                                                    \
    X(cuCtxGetCacheConfig, 3020)                                                                   \
    X(cuCtxGetCurrent, 4000)                                                                       \
    X(cuCtxGetDevice, 2000)                                                                        \
    X(cuCtxGetDevice_v2, 13000)                                                                    \
    X(cuCtxGetFlags, 7000)                                                                         \
    X(cuCtxGetId, 12000)                                                                           \
    X(cuCtxGetLimit, 3010)                                                                         \
    X(cuCtxGetSharedMemConfig, 4020)                                                               \
    X(cuCtxGetStreamPriorityRange, 5050)                                                           \
    X(cuCtxPopCurrent, 2000)                                                                       \
    X(cuCtxPopCurrent_v2, 4000)                                                                    \
    X(cuCtxPushCurrent, 2000)                                                                      \
    X(cuCtxPushCurrent_v2, 4000)                                                                   \
    X(cuCtxResetPersistingL2Cache, 11000)                                                          \
    X(cuCtxSetCacheConfig, 3020)                                                                   \
    X(cuCtxSetCurrent, 4000)                                                                       \
    X(cuCtxSetFlags, 12010)                                                                        \
    X(cuCtxSetLimit, 3010)                                                                         \
    X(cuCtxSetSharedMemConfig, 4020)                                                               \
    X(cuCtxSynchronize, 2000)                                                                      \
    X(cuCtxSynchronize_v2, 13000)                                                                  \
    X(cuDeviceCanAccessPeer, 4000)                                                                 \
    X(cuDeviceComputeCapability, 2000)                                                             \
    X(cuDeviceGet, 2000)                                                                           \
    X(cuDeviceGetAttribute, 2000)                                                                  \
    X(cuDeviceGetByPCIBusId, 4010)                                                                 \
    X(cuDeviceGetCount, 2000)                                                                      \
    X(cuDeviceGetDefaultMemPool, 11020)                                                            \
    X(cuDeviceGetExecAffinitySupport, 11040)                                                       \
    X(cuDeviceGetGraphMemAttribute, 11040)                                                         \
    X(cuDeviceGetMemPool, 11020)                                                                   \
    X(cuDeviceGetName, 2000)                                                                       \
    X(cuDeviceGetP2PAttribute, 8000)                                                               \
    X(cuDeviceGetPCIBusId, 4010)                                                                   \
    X(cuDeviceGetProperties, 2000)                                                                 \
    X(cuDeviceGetUuid, 9020)                                                                       \
    X(cuDeviceGetUuid_v2, 11040)                                                                   \
    X(cuDeviceGraphMemTrim, 11040)                                                                 \
    X(cuDevicePrimaryCtxGetState, 7000)                                                            \
    X(cuDevicePrimaryCtxRelease, 7000)                                                             \
    X(cuDevicePrimaryCtxRelease_v2, 11000)                                                         \
    X(cuDevicePrimaryCtxReset, 7000)                                                               \
    X(cuDevicePrimaryCtxReset_v2, 11000)                                                           \
    X(cuDevicePrimaryCtxRetain, 7000)                                                              \
    X(cuDevicePrimaryCtxSetFlags, 7000)                                                            \
    X(cuDevicePrimaryCtxSetFlags_v2, 11000)                                                        \
    X(cuDeviceSetGraphMemAttribute, 11040)                                                         \
    X(cuDeviceSetMemPool, 11020)                                                                   \
    X(cuDeviceTotalMem_v2, 3020)                                                                   \
    X(cuDriverGetVersion, 2020)                                                                    \
    X(cuEventCreate, 2000)                                                                         \
    X(cuEventDestroy, 2000)                                                                        \
    X(cuEventDestroy_v2, 4000)                                                                     \
    X(cuEventElapsedTime, 2000)                                                                    \
    X(cuEventElapsedTime_v2, 12080)                                                                \
    X(cuEventQuery, 2000)                                                                          \
    X(cuEventRecord, 2000)                                                                         \
    X(cuEventRecordWithFlags, 11010)                                                               \
    X(cuEventSynchronize, 2000)                                                                    \
    X(cuFuncGetAttribute, 2020)                                                                    \
    X(cuFuncGetModule, 11000)                                                                      \
    X(cuFuncGetName, 12030)                                                                        \
    X(cuFuncGetParamInfo, 12040)                                                                   \
    X(cuFuncIsLoaded, 12040)                                                                       \
    X(cuFuncLoad, 12040)                                                                           \
    X(cuFuncSetAttribute, 9000)                                                                    \
    X(cuFuncSetBlockShape, 2000)                                                                   \
    X(cuFuncSetCacheConfig, 3000)                                                                  \
    X(cuFuncSetSharedMemConfig, 4020)                                                              \
    X(cuFuncSetSharedSize, 2000)                                                                   \
    X(cuGetErrorName, 6000)                                                                        \
    X(cuGetErrorString, 6000)                                                                      \
    X(cuGetProcAddress, 11030)                                                                     \
    X(cuGetProcAddress_v2, 12000)                                                                  \
    X(cuGraphAddChildGraphNode, 10000)                                                             \
    X(cuGraphAddDependencies, 10000)                                                               \
    X(cuGraphAddDependencies_v2, 12030)                                                            \
    X(cuGraphAddEmptyNode, 10000)                                                                  \
    X(cuGraphAddEventRecordNode, 11010)                                                            \
    X(cuGraphAddEventWaitNode, 11010)                                                              \
    X(cuGraphAddHostNode, 10000)                                                                   \
    X(cuGraphAddKernelNode, 10000)                                                                 \
    X(cuGraphAddKernelNode_v2, 12000)                                                              \
    X(cuGraphAddMemAllocNode, 11040)                                                               \
    X(cuGraphAddMemFreeNode, 11040)                                                                \
    X(cuGraphAddMemcpyNode, 10000)                                                                 \
    X(cuGraphAddMemsetNode, 10000)                                                                 \
    X(cuGraphAddNode, 12020)                                                                       \
    X(cuGraphAddNode_v2, 12030)                                                                    \
    X(cuGraphChildGraphNodeGetGraph, 10000)                                                        \
    X(cuGraphClone, 10000)                                                                         \
    X(cuGraphConditionalHandleCreate, 12030)                                                       \
    X(cuGraphCreate, 10000)                                                                        \
    X(cuGraphDebugDotPrint, 11030)                                                                 \
    X(cuGraphDestroy, 10000)                                                                       \
    X(cuGraphDestroyNode, 10000)                                                                   \
    X(cuGraphEventRecordNodeGetEvent, 11010)                                                       \
    X(cuGraphEventRecordNodeSetEvent, 11010)                                                       \
    X(cuGraphEventWaitNodeGetEvent, 11010)                                                         \
    X(cuGraphEventWaitNodeSetEvent, 11010)                                                         \
    X(cuGraphExecChildGraphNodeSetParams, 11010)                                                   \
    X(cuGraphExecDestroy, 10000)                                                                   \
    X(cuGraphExecEventRecordNodeSetEvent, 11010)                                                   \
    X(cuGraphExecEventWaitNodeSetEvent, 11010)                                                     \
    X(cuGraphExecGetFlags, 12000)                                                                  \
    X(cuGraphExecHostNodeSetParams, 10020)                                                         \
    X(cuGraphExecKernelNodeSetParams, 10010)                                                       \
    X(cuGraphExecKernelNodeSetParams_v2, 12000)                                                    \
    X(cuGraphExecMemcpyNodeSetParams, 10020)                                                       \
    X(cuGraphExecMemsetNodeSetParams, 10020)                                                       \
    X(cuGraphExecNodeSetParams, 12020)                                                             \
    X(cuGraphExecUpdate, 10020)                                                                    \
    X(cuGraphExecUpdate_v2, 12000)                                                                 \
    X(cuGraphGetEdges, 10000)                                                                      \
    X(cuGraphGetEdges_v2, 12030)                                                                   \
    X(cuGraphGetNodes, 10000)                                                                      \
    X(cuGraphGetRootNodes, 10000)                                                                  \
    X(cuGraphHostNodeGetParams, 10000)                                                             \
    X(cuGraphHostNodeSetParams, 10000)                                                             \
    X(cuGraphInstantiate, 10000)                                                                   \
    X(cuGraphInstantiateWithFlags, 11040)                                                          \
    X(cuGraphInstantiateWithParams, 12000)                                                         \
    X(cuGraphInstantiate_v2, 11000)                                                                \
    X(cuGraphKernelNodeCopyAttributes, 11000)                                                      \
    X(cuGraphKernelNodeGetAttribute, 11000)                                                        \
    X(cuGraphKernelNodeGetParams, 10000)                                                           \
    X(cuGraphKernelNodeGetParams_v2, 12000)                                                        \
    X(cuGraphKernelNodeSetAttribute, 11000)                                                        \
    X(cuGraphKernelNodeSetParams, 10000)                                                           \
    X(cuGraphKernelNodeSetParams_v2, 12000)                                                        \
    X(cuGraphLaunch, 10000)                                                                        \
    X(cuGraphMemAllocNodeGetParams, 11040)                                                         \
    X(cuGraphMemFreeNodeGetParams, 11040)                                                          \
    X(cuGraphMemcpyNodeGetParams, 10000)                                                           \
    X(cuGraphMemcpyNodeSetParams, 10000)                                                           \
    X(cuGraphMemsetNodeGetParams, 10000)                                                           \
    X(cuGraphMemsetNodeSetParams, 10000)                                                           \
    X(cuGraphNodeFindInClone, 10000)                                                               \
    X(cuGraphNodeGetDependencies, 10000)                                                           \
    X(cuGraphNodeGetDependencies_v2, 12030)                                                        \
    X(cuGraphNodeGetDependentNodes, 10000)                                                         \
    X(cuGraphNodeGetDependentNodes_v2, 12030)                                                      \
    X(cuGraphNodeGetEnabled, 11060)                                                                \
    X(cuGraphNodeGetType, 10000)                                                                   \
    X(cuGraphNodeSetEnabled, 11060)                                                                \
    X(cuGraphNodeSetParams, 12020)                                                                 \
    X(cuGraphReleaseUserObject, 11030)                                                             \
    X(cuGraphRemoveDependencies, 10000)                                                            \
    X(cuGraphRemoveDependencies_v2, 12030)                                                         \
    X(cuGraphRetainUserObject, 11030)                                                              \
    X(cuGraphUpload, 11010)                                                                        \
    X(cuInit, 2000)                                                                                \
    X(cuIpcCloseMemHandle, 4010)                                                                   \
    X(cuIpcGetEventHandle, 4010)                                                                   \
    X(cuIpcGetMemHandle, 4010)                                                                     \
    X(cuIpcOpenEventHandle, 4010)                                                                  \
    X(cuIpcOpenMemHandle, 4010)                                                                    \
    X(cuIpcOpenMemHandle_v2, 11000)                                                                \
    X(cuKernelGetAttribute, 12000)                                                                 \
    X(cuKernelGetFunction, 12000)                                                                  \
    X(cuKernelGetLibrary, 12050)                                                                   \
    X(cuKernelGetName, 12030)                                                                      \
    X(cuKernelGetParamInfo, 12040)                                                                 \
    X(cuKernelSetAttribute, 12000)                                                                 \
    X(cuKernelSetCacheConfig, 12000)                                                               \
    X(cuLaunch, 2000)                                                                              \
    X(cuLaunchCooperativeKernel, 9000)                                                             \
    X(cuLaunchGrid, 2000)                                                                          \
    X(cuLaunchGridAsync, 2000)                                                                     \
    X(cuLaunchHostFunc, 10000)                                                                     \
    X(cuLaunchKernel, 4000)                                                                        \
    X(cuLaunchKernelEx, 11060)                                                                     \
    X(cuLibraryEnumerateKernels, 12040)                                                            \
    X(cuLibraryGetGlobal, 12000)                                                                   \
    X(cuLibraryGetKernel, 12000)                                                                   \
    X(cuLibraryGetKernelCount, 12040)                                                              \
    X(cuLibraryGetManaged, 12000)                                                                  \
    X(cuLibraryGetModule, 12000)                                                                   \
    X(cuLibraryGetUnifiedFunction, 12000)                                                          \
    X(cuLibraryLoadData, 12000)                                                                    \
    X(cuLibraryLoadFromFile, 12000)                                                                \
    X(cuLibraryUnload, 12000)                                                                      \
    X(cuLinkAddData, 5050)                                                                         \
    X(cuLinkAddData_v2, 6050)                                                                      \
    X(cuLinkAddFile, 5050)                                                                         \
    X(cuLinkAddFile_v2, 6050)                                                                      \
    X(cuLinkComplete, 5050)                                                                        \
    X(cuLinkCreate, 5050)                                                                          \
    X(cuLinkCreate_v2, 6050)                                                                       \
    X(cuLinkDestroy, 5050)                                                                         \
    X(cuMemAdvise, 8000)                                                                           \
    X(cuMemAdvise_v2, 12020)                                                                       \
    X(cuMemAlloc_v2, 3020)                                                                         \
    X(cuMemAllocAsync, 11020)                                                                      \
    X(cuMemAllocFromPoolAsync, 11020)                                                              \
    X(cuMemAllocHost_v2, 3020)                                                                     \
    X(cuMemAllocManaged, 6000)                                                                     \
    X(cuMemAllocPitch_v2, 3020)                                                                    \
    X(cuMemFree_v2, 3020)                                                                          \
    X(cuMemFreeAsync, 11020)                                                                       \
    X(cuMemFreeHost, 2000)                                                                         \
    X(cuMemGetAddressRange_v2, 3020)                                                               \
    X(cuMemGetDefaultMemPool, 13000)                                                               \
    X(cuMemGetInfo_v2, 3020)                                                                       \
    X(cuMemGetMemPool, 13000)                                                                      \
    X(cuMemHostAlloc, 2020)                                                                        \
    X(cuMemHostGetDevicePointer_v2, 3020)                                                          \
    X(cuMemHostGetFlags, 2030)                                                                     \
    X(cuMemHostRegister, 4000)                                                                     \
    X(cuMemHostRegister_v2, 6050)                                                                  \
    X(cuMemHostUnregister, 4000)                                                                   \
    X(cuMemPoolCreate, 11020)                                                                      \
    X(cuMemPoolDestroy, 11020)                                                                     \
    X(cuMemPoolGetAccess, 11020)                                                                   \
    X(cuMemPoolGetAttribute, 11020)                                                                \
    X(cuMemPoolSetAccess, 11020)                                                                   \
    X(cuMemPoolSetAttribute, 11020)                                                                \
    X(cuMemPoolTrimTo, 11020)                                                                      \
    X(cuMemPrefetchAsync, 8000)                                                                    \
    X(cuMemPrefetchAsync_v2, 12020)                                                                \
    X(cuMemSetMemPool, 13000)                                                                      \
    X(cuMemcpy, 4000)                                                                              \
    X(cuMemcpy2D_v2, 3020)                                                                         \
    X(cuMemcpy2DAsync_v2, 3020)                                                                    \
    X(cuMemcpy2DUnaligned_v2, 3020)                                                                \
    X(cuMemcpy3D_v2, 3020)                                                                         \
    X(cuMemcpy3DAsync_v2, 3020)                                                                    \
    X(cuMemcpy3DPeer, 4000)                                                                        \
    X(cuMemcpy3DPeerAsync, 4000)                                                                   \
    X(cuMemcpyAsync, 4000)                                                                         \
    X(cuMemcpyAtoA_v2, 3020)                                                                       \
    X(cuMemcpyAtoD_v2, 3020)                                                                       \
    X(cuMemcpyAtoH_v2, 3020)                                                                       \
    X(cuMemcpyAtoHAsync_v2, 3020)                                                                  \
    X(cuMemcpyBatchAsync, 12080)                                                                   \
    X(cuMemcpyBatchAsync_v2, 13000)                                                                \
    X(cuMemcpyDtoA_v2, 3020)                                                                       \
    X(cuMemcpyDtoD_v2, 3020)                                                                       \
    X(cuMemcpyDtoDAsync_v2, 3020)                                                                  \
    X(cuMemcpyDtoH_v2, 3020)                                                                       \
    X(cuMemcpyDtoHAsync_v2, 3020)                                                                  \
    X(cuMemcpyHtoA_v2, 3020)                                                                       \
    X(cuMemcpyHtoAAsync_v2, 3020)                                                                  \
    X(cuMemcpyHtoD_v2, 3020)                                                                       \
    X(cuMemcpyHtoDAsync_v2, 3020)                                                                  \
    X(cuMemcpyPeer, 4000)                                                                          \
    X(cuMemcpyPeerAsync, 4000)                                                                     \
    X(cuMemsetD16_v2, 3020)                                                                        \
    X(cuMemsetD16Async, 3020)                                                                      \
    X(cuMemsetD2D16_v2, 3020)                                                                      \
    X(cuMemsetD2D16Async, 3020)                                                                    \
    X(cuMemsetD2D32_v2, 3020)                                                                      \
    X(cuMemsetD2D32Async, 3020)                                                                    \
    X(cuMemsetD2D8_v2, 3020)                                                                       \
    X(cuMemsetD2D8Async, 3020)                                                                     \
    X(cuMemsetD32_v2, 3020)                                                                        \
    X(cuMemsetD32Async, 3020)                                                                      \
    X(cuMemsetD8_v2, 3020)                                                                         \
    X(cuMemsetD8Async, 3020)                                                                       \
    X(cuModuleEnumerateFunctions, 12040)                                                           \
    X(cuModuleGetFunction, 2000)                                                                   \
    X(cuModuleGetFunctionCount, 12040)                                                             \
    X(cuModuleGetGlobal_v2, 3020)                                                                  \
    X(cuModuleGetLoadingMode, 11070)                                                               \
    X(cuModuleGetSurfRef, 3000)                                                                    \
    X(cuModuleGetTexRef, 2000)                                                                     \
    X(cuModuleLoad, 2000)                                                                          \
    X(cuModuleLoadData, 2000)                                                                      \
    X(cuModuleLoadDataEx, 2010)                                                                    \
    X(cuModuleLoadFatBinary, 2000)                                                                 \
    X(cuModuleUnload, 2000)                                                                        \
    X(cuOccupancyAvailableDynamicSMemPerBlock, 10020)                                              \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)                                           \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000)                                  \
    X(cuOccupancyMaxActiveClusters, 11070)                                                         \
    X(cuOccupancyMaxPotentialBlockSize, 6050)                                                      \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000)                                             \
    X(cuOccupancyMaxPotentialClusterSize, 11070)                                                   \
    X(cuParamSetSize, 2000)                                                                        \
    X(cuParamSetf, 2000)                                                                           \
    X(cuParamSeti, 2000)                                                                           \
    X(cuParamSetv, 2000)                                                                           \
    X(cuPointerGetAttribute, 4000)                                                                 \
    X(cuPointerGetAttributes, 7000)                                                                \
    X(cuPointerSetAttribute, 6000)                                                                 \
    X(cuProfilerStart, 4000)                                                                       \
    X(cuProfilerStop, 4000)                                                                        \
    X(cuStreamAddCallback, 5000)                                                                   \
    X(cuStreamAttachMemAsync, 6000)                                                                \
    X(cuStreamBeginCapture, 10000)                                                                 \
    X(cuStreamBeginCaptureToGraph, 12030)                                                          \
    X(cuStreamBeginCapture_v2, 10010)                                                              \
    X(cuStreamCopyAttributes, 11000)                                                               \
    X(cuStreamCreate, 2000)                                                                        \
    X(cuStreamCreateWithPriority, 5050)                                                            \
    X(cuStreamDestroy, 2000)                                                                       \
    X(cuStreamDestroy_v2, 4000)                                                                    \
    X(cuStreamEndCapture, 10000)                                                                   \
    X(cuStreamGetAttribute, 11000)                                                                 \
    X(cuStreamGetCaptureInfo, 10010)                                                               \
    X(cuStreamGetCaptureInfo_v2, 11030)                                                            \
    X(cuStreamGetCaptureInfo_v3, 12030)                                                            \
    X(cuStreamGetCtx, 9020)                                                                        \
    X(cuStreamGetCtx_v2, 12050)                                                                    \
    X(cuStreamGetDevice, 12080)                                                                    \
    X(cuStreamGetFlags, 5050)                                                                      \
    X(cuStreamGetId, 12000)                                                                        \
    X(cuStreamGetPriority, 5050)                                                                   \
    X(cuStreamIsCapturing, 10000)                                                                  \
    X(cuStreamQuery, 2000)                                                                         \
    X(cuStreamSetAttribute, 11000)                                                                 \
    X(cuStreamSynchronize, 2000)                                                                   \
    X(cuStreamUpdateCaptureDependencies, 11030)                                                    \
    X(cuStreamUpdateCaptureDependencies_v2, 12030)                                                 \
    X(cuStreamWaitEvent, 3020)                                                                     \
    X(cuSurfObjectCreate, 5000)                                                                    \
    X(cuSurfObjectDestroy, 5000)                                                                   \
    X(cuSurfObjectGetResourceDesc, 5000)                                                           \
    X(cuTensorMapEncodeIm2col, 12000)                                                              \
    X(cuTensorMapEncodeTiled, 12000)                                                               \
    X(cuTensorMapReplaceAddress, 12000)                                                            \
    X(cuTexObjectCreate, 5000)                                                                     \
    X(cuTexObjectDestroy, 5000)                                                                    \
    X(cuTexObjectGetResourceDesc, 5000)                                                            \
    X(cuTexObjectGetTextureDesc, 5000)                                                             \
    X(cuThreadExchangeStreamCaptureMode, 10010)                                                    \
    X(cuUserObjectCreate, 11030)                                                                   \
    X(cuUserObjectRelease, 11030)                                                                  \
    X(cuUserObjectRetain, 11030)

/* These answer CUDA_ERROR_NOT_SUPPORTED, and say what there is not. */
#define UNSUPPORTED(X)                                                                             \
    X(cuGraphAddBatchMemOpNode, 11070, "graphs")                                                   \
    X(cuGraphAddExternalSemaphoresSignalNode, 11020, "graphs")                                     \
    X(cuGraphAddExternalSemaphoresWaitNode, 11020, "graphs")                                       \
    X(cuGraphBatchMemOpNodeGetParams, 11070, "graphs")                                             \
    X(cuGraphBatchMemOpNodeSetParams, 11070, "graphs")                                             \
    X(cuGraphExecBatchMemOpNodeSetParams, 11070, "graphs")                                         \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, "graphs")                           \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, "graphs")                             \
    X(cuGraphExternalSemaphoresSignalNodeGetParams, 11020, "graphs")                               \
    X(cuGraphExternalSemaphoresSignalNodeSetParams, 11020, "graphs")                               \
    X(cuGraphExternalSemaphoresWaitNodeGetParams, 11020, "graphs")                                 \
    X(cuGraphExternalSemaphoresWaitNodeSetParams, 11020, "graphs")                                 \
    X(cuMipmappedArrayCreate, 5000, "mipmaps")                                                     \
    X(cuMipmappedArrayDestroy, 5000, "mipmaps")                                                    \
    X(cuMipmappedArrayGetLevel, 5000, "mipmaps")                                                   \
    X(cuMipmappedArrayGetMemoryRequirements, 11060, "mipmaps")                                     \
    X(cuMipmappedArrayGetSparseProperties, 11010, "mipmaps")                                       \
    X(cuParamSetTexRef, 2000, "texture references")                                                \
    X(cuSurfRefGetArray, 3000, "surface references")                                               \
    X(cuSurfRefSetArray, 3000, "surface references")                                               \
    X(cuTexObjectGetResourceViewDesc, 5000, "resource views")                                      \
    X(cuTexRefCreate, 2000, "texture references")                                                  \
    X(cuTexRefDestroy, 2000, "texture references")                                                 \
    X(cuTexRefGetAddress_v2, 3020, "texture references")                                           \
    X(cuTexRefGetAddressMode, 2000, "texture references")                                          \
    X(cuTexRefGetArray, 2000, "texture references")                                                \
    X(cuTexRefGetBorderColor, 8000, "texture references")                                          \
    X(cuTexRefGetFilterMode, 2000, "texture references")                                           \
    X(cuTexRefGetFlags, 2000, "texture references")                                                \
    X(cuTexRefGetFormat, 2000, "texture references")                                               \
    X(cuTexRefGetMaxAnisotropy, 5000, "texture references")                                        \
    X(cuTexRefGetMipmapFilterMode, 5000, "texture references")                                     \
    X(cuTexRefGetMipmapLevelBias, 5000, "texture references")                                      \
    X(cuTexRefGetMipmapLevelClamp, 5000, "texture references")                                     \
    X(cuTexRefGetMipmappedArray, 5000, "texture references")                                       \
    X(cuTexRefSetAddress_v2, 3020, "texture references")                                           \
    X(cuTexRefSetAddress2D_v3, 4010, "texture references")                                         \
    X(cuTexRefSetAddressMode, 2000, "texture references")                                          \
    X(cuTexRefSetArray, 2000, "texture references")                                                \
    X(cuTexRefSetBorderColor, 8000, "texture references")                                          \
    X(cuTexRefSetFilterMode, 2000, "texture references")                                           \
    X(cuTexRefSetFlags, 2000, "texture references")                                                \
    X(cuTexRefSetFormat, 2000, "texture references")                                               \
    X(cuTexRefSetMaxAnisotropy, 5000, "texture references")                                        \
    X(cuTexRefSetMipmapFilterMode, 5000, "texture references")                                     \
    X(cuTexRefSetMipmapLevelBias, 5000, "texture references")                                      \
    X(cuTexRefSetMipmapLevelClamp, 5000, "texture references")                                     \
    X(cuTexRefSetMipmappedArray, 5000, "texture references")                                       \
    X(cuArrayGetMemoryRequirements, 11060, "arrays as pieces")                                     \
    X(cuArrayGetPlane, 11020, "arrays as pieces")                                                  \
    X(cuArrayGetSparseProperties, 11010, "arrays as pieces")                                       \
    X(cuMemMapArrayAsync, 11010, "arrays as pieces")                                               \
    X(cuMemExportToShareableHandle, 10020, "memory shared between processes")                      \
    X(cuMemImportFromShareableHandle, 10020, "memory shared between processes")                    \
    X(cuMemPoolExportPointer, 11020, "memory shared between processes")                            \
    X(cuMemPoolExportToShareableHandle, 11020, "memory shared between processes")                  \
    X(cuMemPoolImportFromShareableHandle, 11020, "memory shared between processes")                \
    X(cuMemPoolImportPointer, 11020, "memory shared between processes")                            \
    X(cuMemAddressFree, 10020, "virtual memory management")                                        \
    X(cuMemAddressReserve, 10020, "virtual memory management")                                     \
    X(cuMemCreate, 10020, "virtual memory management")                                             \
    X(cuMemGetAccess, 10020, "virtual memory management")                                          \
    X(cuMemGetAllocationGranularity, 10020, "virtual memory management")                           \
    X(cuMemGetAllocationPropertiesFromHandle, 10020, "virtual memory management")                  \
    X(cuMemGetHandleForAddressRange, 11070, "virtual memory management")                           \
    X(cuMemMap, 10020, "virtual memory management")                                                \
    X(cuMemRelease, 10020, "virtual memory management")                                            \
    X(cuMemRetainAllocationHandle, 11000, "virtual memory management")                             \
    X(cuMemSetAccess, 10020, "virtual memory management")                                          \
    X(cuMemUnmap, 10020, "virtual memory management")                                              \
    X(cuDestroyExternalMemory, 10000, "memory and semaphores of other interfaces")                 \
    X(cuDestroyExternalSemaphore, 10000, "memory and semaphores of other interfaces")              \
    X(cuExternalMemoryGetMappedBuffer, 10000, "memory and semaphores of other interfaces")         \
    X(cuExternalMemoryGetMappedMipmappedArray, 10000, "memory and semaphores of other interfaces") \
    X(cuImportExternalMemory, 10000, "memory and semaphores of other interfaces")                  \
    X(cuImportExternalSemaphore, 10000, "memory and semaphores of other interfaces")               \
    X(cuSignalExternalSemaphoresAsync, 10000, "memory and semaphores of other interfaces")         \
    X(cuWaitExternalSemaphoresAsync, 10000, "memory and semaphores of other interfaces")           \
    X(cuGraphicsMapResources, 3000, "graphics")                                                    \
    X(cuGraphicsResourceGetMappedMipmappedArray, 5000, "graphics")                                 \
    X(cuGraphicsResourceGetMappedPointer_v2, 3020, "graphics")                                     \
    X(cuGraphicsResourceSetMapFlags_v2, 6050, "graphics")                                          \
    X(cuGraphicsSubResourceGetMappedArray, 3000, "graphics")                                       \
    X(cuGraphicsUnmapResources, 3000, "graphics")                                                  \
    X(cuGraphicsUnregisterResource, 3000, "graphics")                                              \
    X(cuMulticastAddDevice, 12010, "multicast")                                                    \
    X(cuMulticastBindAddr, 12010, "multicast")                                                     \
    X(cuMulticastBindMem, 12010, "multicast")                                                      \
    X(cuMulticastCreate, 12010, "multicast")                                                       \
    X(cuMulticastGetGranularity, 12010, "multicast")                                               \
    X(cuMulticastUnbind, 12010, "multicast")                                                       \
    X(cuTensorMapEncodeIm2colWide, 12080, "tensor maps")                                           \
    X(cuCheckpointProcessCheckpoint, 12080, "core dumps and checkpoints")                          \
    X(cuCheckpointProcessGetRestoreThreadId, 12080, "core dumps and checkpoints")                  \
    X(cuCheckpointProcessGetState, 12080, "core dumps and checkpoints")                            \
    X(cuCheckpointProcessLock, 12080, "core dumps and checkpoints")                                \
    X(cuCheckpointProcessRestore, 12080, "core dumps and checkpoints")                             \
    X(cuCheckpointProcessUnlock, 12080, "core dumps and checkpoints")                              \
    X(cuCoredumpGetAttribute, 12010, "core dumps and checkpoints")                                 \
    X(cuCoredumpGetAttributeGlobal, 12010, "core dumps and checkpoints")                           \
    X(cuCoredumpSetAttribute, 12010, "core dumps and checkpoints")                                 \
    X(cuCoredumpSetAttributeGlobal, 12010, "core dumps and checkpoints")                           \
    X(cuCtxFromGreenCtx, 12040, "parts of the device")                                             \
    X(cuCtxGetDevResource, 12040, "parts of the device")                                           \
    X(cuDevResourceGenerateDesc, 12040, "parts of the device")                                     \
    X(cuDevSmResourceSplitByCount, 12040, "parts of the device")                                   \
    X(cuDeviceGetDevResource, 12040, "parts of the device")                                        \
    X(cuGreenCtxCreate, 12040, "parts of the device")                                              \
    X(cuGreenCtxDestroy, 12040, "parts of the device")                                             \
    X(cuGreenCtxGetDevResource, 12040, "parts of the device")                                      \
    X(cuGreenCtxGetId, 12090, "parts of the device")                                               \
    X(cuGreenCtxRecordEvent, 12040, "parts of the device")                                         \
    X(cuGreenCtxStreamCreate, 12050, "parts of the device")                                        \
    X(cuGreenCtxWaitEvent, 12040, "parts of the device")                                           \
    X(cuCtxGetExecAffinity, 11040, "parts of the device")                                          \
    X(cuStreamGetGreenCtx, 12040, "parts of the device")                                           \
    X(cuStreamBatchMemOp_v2, 11070, "operations on memory in a stream")                            \
    X(cuStreamWaitValue32_v2, 11070, "operations on memory in a stream")                           \
    X(cuStreamWaitValue64_v2, 11070, "operations on memory in a stream")                           \
    X(cuStreamWriteValue32_v2, 11070, "operations on memory in a stream")                          \
    X(cuStreamWriteValue64_v2, 11070, "operations on memory in a stream")                          \
    X(cuProfilerInitialize, 4000, "profiler configuration files")                                  \
    X(cuLogsCurrent, 12090, "logs")                                                                \
    X(cuLogsDumpToFile, 12090, "logs")                                                             \
    X(cuLogsDumpToMemory, 12090, "logs")                                                           \
    X(cuLogsRegisterCallback, 12090, "logs")                                                       \
    X(cuLogsUnregisterCallback, 12090, "logs")                                                     \
    X(cuDeviceRegisterAsyncNotification, 12040, "callbacks of asynchronous notices")               \
    X(cuDeviceUnregisterAsyncNotification, 12040, "callbacks of asynchronous notices")             \
    X(cuLaunchCooperativeKernelMultiDevice, 9000, "launches of several devices")                   \
    X(cuMemBatchDecompressAsync, 12060, "decompression")                                           \
    X(cuCtxRecordEvent, 12050, "events of whole contexts")                                         \
    X(cuCtxWaitEvent, 12050, "events of whole contexts")                                           \
    X(cuDeviceGetHostAtomicCapabilities, 13000, "what other devices share with it")                \
    X(cuDeviceGetLuid, 10000, "what other devices share with it")                                  \
    X(cuDeviceGetNvSciSyncAttributes, 10020, "what other devices share with it")                   \
    X(cuDeviceGetP2PAtomicCapabilities, 13000, "what other devices share with it")                 \
    X(cuDeviceGetTexture1DLinearMaxWidth, 11010, "what other devices share with it")               \
    X(cuFlushGPUDirectRDMAWrites, 11030, "what other devices share with it")                       \
    X(cuGetExportTable, 3000, "the runtime library's private tables")                              \
    X(cuMemDiscardAndPrefetchBatchAsync, 13000, "places of managed memory")                        \
    X(cuMemDiscardBatchAsync, 13000, "places of managed memory")                                   \
    X(cuMemPrefetchBatchAsync, 13000, "places of managed memory")                                  \
    X(cuMemRangeGetAttribute, 8000, "places of managed memory")                                    \
    X(cuMemRangeGetAttributes, 8000, "places of managed memory")                                   \
    X(cuMemcpy3DBatchAsync_v2, 13000, "batches of boxes")

#endif
